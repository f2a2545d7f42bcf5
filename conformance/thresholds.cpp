#include "conformance/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "spec/half.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;
using Array = reference::Array<double>;

bool turns(const Expr& e) {
  using enum Primitive;
  for (const Primitive p : {eq, ne, lt, le, gt, ge, maximum, minimum}) {
    if (e.is(p)) return e->args[0].kind() != Kind::boolean;
  }
  return false;
}

/// A comparison, and the variables that its sides may use with what they range over.
struct Turning {
  Expr left, right;
  std::vector<spec::Binder> scope;
  bool equality = false;
  bool end = false;  ///< of a range, beside which a result stands, hardly ever at it
};

/// Functions whose results leave the range of their type soon.
bool grows(const Expr& e) {
  using enum Primitive;
  return e.is(exp) || e.is(exp2) || e.is(expm1) || e.is(sinh) || e.is(cosh);
}

/// Functions whose arguments may lie below the smallest normal number while their results are ordinary.
bool falls(const Expr& e) {
  using enum Primitive;
  return e.is(sqrt) || e.is(log) || e.is(log2);
}

void collect(const Expr& e, const std::vector<spec::Binder>& scope, DType dtype, std::vector<Turning>& to) {
  std::vector<spec::Binder> inner = scope;
  if (e.form() == Form::reduce) inner.insert(inner.end(), e->binders.begin(), e->binders.end());
  if (turns(e)) to.push_back({e->args[0], e->args[1], inner, e.is(Primitive::eq) || e.is(Primitive::ne)});
  // A root or an absolute value turns at 0.
  if (e.is(Primitive::abs) || e.is(Primitive::sign)) {
    to.push_back({e->args[0], e->args[0].kind() == Kind::real ? spec::decimal(0) : spec::integer(0), inner});
  }
  // What becomes an integer is cut, or held at the ends of the integers that are narrowest and widest.
  if (e.is(Primitive::to_integer)) {
    for (const double end : {0x1p31, -0x1p31, 0x1p63, -0x1p63}) to.push_back({e->args[0], spec::decimal({.is_binary = true, .binary = end}), inner});
  }
  if (grows(e) && kind_of(dtype) == Kind::real) {
    const spec::Format f = spec::format_of(dtype);
    const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - f.precision), f.emax);
    for (const double end : {largest, std::ldexp(1.0, f.emin)}) to.push_back({e, spec::decimal({.is_binary = true, .binary = end}), inner, false, true});
  }
  if (falls(e) && kind_of(dtype) == Kind::real) {
    const double below = std::ldexp(1.0, spec::format_of(dtype).emin - 4);
    to.push_back({e->args[0], spec::decimal({.is_binary = true, .binary = below}), inner, false, true});
  }
  for (const Expr& arg : e->args) collect(arg, inner, dtype, to);
}

/// An element of an input.
struct Spot {
  std::size_t input = 0;
  std::size_t element = 0;
};

class Meeting {
 public:
  Meeting(const spec::System& system, std::vector<HostTensor*>& inputs, Sides sides, Draw& draw)
      : system_(system), inputs_(inputs), sides_(sides), draw_(draw) {
    for (const spec::Equation& equation : system.equations) {
      collect(equation.value, equation.binders, system[equation.target].dtype, turnings_);
    }
    std::erase_if(turnings_, [&](const Turning& t) { return !reads_inputs(t); });
  }

  Met run(std::size_t wanted) {
    // Each once before any comes again; where to begin is drawn.
    const std::size_t first = turnings_.empty() ? 0 : static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(turnings_.size()) - 1));
    for (std::size_t k = 0; k < wanted && !turnings_.empty(); ++k) meet(turnings_[(first + k) % turnings_.size()]);
    return met_;
  }

 private:
  bool reads_inputs(const Turning& t) const {
    bool found = false;
    for (const Expr& side : {t.left, t.right}) {
      spec::for_each(side, [&](const Expr& e) { found = found || e.form() == Form::read; });
    }
    return found;
  }

  void meet(const Turning& turning) {
    spec::Substitution at;
    for (const spec::Binder& b : turning.scope) {
      if (b.extent <= 0) return;
      at.emplace(b.variable, spec::integer(draw_.integer(0, b.extent - 1)));
    }
    const Expr left = substitute(turning.left, at), right = substitute(turning.right, at);
    Extents none;
    if (!stays_inside(left, none) || !stays_inside(right, none)) return;
    std::set<std::pair<std::size_t, std::size_t>> spots;
    steps_ = 0;
    find(left, spots, 0);
    find(right, spots, 0);
    if (spots.empty()) return;
    auto chosen = spots.begin();
    std::advance(chosen, draw_.integer(0, static_cast<std::int64_t>(spots.size()) - 1));
    const Spot spot{chosen->first, chosen->second};
    if (sides_ == Sides::equal) coarsen(spots);
    prepare(left, right);
    counted_ = !turning.end;
    try {
      if (inputs_[spot.input]->dtype == DType::i64 || inputs_[spot.input]->dtype == DType::i32) solve_integer(spot, turning.equality);
      else solve_real(spot);
    } catch (const std::exception&) {
      // A place that is never reached, or an integer divided by 0: nothing to meet here.
    }
  }

  /// Leaves so few digits of the real elements that sums and products of some of them are exact.
  void coarsen(const std::set<std::pair<std::size_t, std::size_t>>& spots) {
    constexpr int digits = 5;
    for (const auto& [input, place] : spots) {
      HostTensor& t = *inputs_[input];
      const double x = element(t, place);
      if (kind_of(t.dtype) != Kind::real || !std::isfinite(x) || x == 0) continue;
      const double step = std::ldexp(1.0, std::ilogb(x) + 1 - digits);
      set_element(t, place, std::round(x / step) * step);
    }
  }

  using Extents = std::map<spec::VariableId, std::int64_t>;

  /// Whether all that the expression reads when it is evaluated by itself, without what guards it, is inside its tensor.
  bool stays_inside(const Expr& e, Extents& bound) const {
    if (e.form() == Form::select) return stays_inside(e->args[0], bound);
    if (e.form() == Form::reduce) {
      for (const spec::Binder& b : e->binders) bound[b.variable] = b.extent;
      // What a guard excludes is not read.
      return stays_inside(e->args[0], bound) && (!is_true(e->args[0]) || stays_inside(e->args[1], bound));
    }
    if (e.form() == Form::read) {
      for (std::size_t axis = 0; axis < e->args.size(); ++axis) {
        const std::int64_t extent = system_[e->tensor].dims[axis];
        const auto index = integer_of(e->args[axis]);
        if (index && (*index < 0 || *index >= extent)) return false;
        if (index) continue;
        if (e->args[axis].form() != Form::variable) return false;
        const auto found = bound.find(e->args[axis]->variable);
        if (found == bound.end() || found->second > extent) return false;
      }
      return true;
    }
    return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& arg) { return stays_inside(arg, bound); });
  }

  static bool is_true(const Expr& e) { return e == spec::boolean(true); }

  // The elements of inputs that an expression without free variables reads, through the tensors between, one choice of
  // what a reduction runs over.
  void find(const Expr& e, std::set<std::pair<std::size_t, std::size_t>>& spots, int depth) {
    if (depth > 12 || ++steps_ > 200) return;
    if (e.form() == Form::reduce) {
      spec::Substitution at;
      for (const spec::Binder& b : e->binders) {
        if (b.extent <= 0) return;
        at.emplace(b.variable, spec::integer(draw_.integer(0, b.extent - 1)));
      }
      for (const Expr& arg : e->args) find(substitute(arg, at), spots, depth + 1);
      return;
    }
    if (e.form() == Form::read) return find_read(e, spots, depth);
    for (const Expr& arg : e->args) find(arg, spots, depth + 1);
  }

  void find_read(const Expr& e, std::set<std::pair<std::size_t, std::size_t>>& spots, int depth) {
    const Dims& dims = system_[e->tensor].dims;
    std::size_t position = 0;
    for (std::size_t axis = 0; axis < e->args.size(); ++axis) {
      const auto index = integer_of(e->args[axis]);
      if (!index || *index < 0 || *index >= dims[axis]) return;
      position = position * static_cast<std::size_t>(dims[axis]) + static_cast<std::size_t>(*index);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (system_.inputs[i] != e->tensor) continue;
      if (inputs_[i]->dtype != DType::boolean) spots.emplace(i, position);
      return;
    }
    for (const spec::Equation& equation : system_.equations) {
      if (equation.target != e->tensor || equation.place.size() != e->args.size()) continue;
      spec::Substitution at;
      for (std::size_t axis = 0; axis < equation.place.size(); ++axis) {
        if (equation.place[axis].form() == Form::variable) at.emplace(equation.place[axis]->variable, e->args[axis]);
      }
      if (at.size() == equation.binders.size()) find(substitute(equation.value, at), spots, depth + 1);
    }
  }

  /// The integer that an index without variables is, where it is plain arithmetic.
  static std::optional<std::int64_t> integer_of(const Expr& e) {
    if (e.form() == Form::number) return e->number.is_binary ? std::nullopt : std::optional(e->number.mantissa);
    if (e.form() != Form::apply || e->args.size() != 2) return std::nullopt;
    const auto a = integer_of(e->args[0]), b = integer_of(e->args[1]);
    if (!a || !b) return std::nullopt;
    if (e.is(Primitive::add)) return *a + *b;
    if (e.is(Primitive::sub)) return *a - *b;
    if (e.is(Primitive::mul)) return *a * *b;
    if (*b <= 0) return std::nullopt;
    const std::int64_t rest = ((*a % *b) + *b) % *b;
    if (e.is(Primitive::modulo)) return rest;
    if (e.is(Primitive::floor_div)) return (*a - rest) / *b;
    return std::nullopt;
  }

  void prepare(const Expr& left, const Expr& right) {
    asked_ = system_;
    const auto target = asked_.add_tensor("difference", DType::f64, Dims{3});
    // The third is not asked for, so that only what the first two need is evaluated.
    const spec::Binder binder = asked_.bind("side", 3);
    asked_.define(target, {binder}, spec::select(spec::apply(Primitive::eq, {spec::variable(binder), spec::integer(0)}), spec::as_real(left), spec::as_real(right)));
    asked_.outputs = {target};
    spec::remove_dead(asked_);  // each evaluation flattens what is left
    arrays_.clear();
    for (const HostTensor* t : inputs_) arrays_.push_back(reference::from_host<double>(*t));
  }

  /// Left side less right side where the element is x.
  double difference(const Spot& spot, double x) {
    Array& of = arrays_[spot.input];
    if (of.kind == Kind::real) of.real[spot.element] = x;
    else of.integer[spot.element] = static_cast<std::int64_t>(x);
    const Array sides = reference::evaluate_partly<double>(asked_, arrays_, {{true, true, false}}).outputs.front();
    return sides.real[0] - sides.real[1];
  }

  static double step(double x, DType dtype, bool up) {
    const double to = up ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    if (dtype == DType::f64) return std::nextafter(x, to);
    if (dtype == DType::f32) return static_cast<double>(std::nextafterf(static_cast<float>(x), static_cast<float>(to)));
    const int exponent = std::max(x == 0 ? -100 : std::ilogb(x), spec::format_of(dtype).emin);
    return x + (up ? 1 : -1) * std::ldexp(1.0, exponent + 1 - spec::format_of(dtype).precision);
  }

  static double rounded(double x, DType dtype) {
    HostTensor one(dtype, Dims{1});
    set_element(one, 0, x);
    return element(one, 0);
  }

  void solve_real(const Spot& spot) {
    HostTensor& t = *inputs_[spot.input];
    const double before = element(t, spot.element);
    const auto root = root_of(spot, t.dtype, std::isfinite(before) ? before : 0);
    if (!root) return;
    const std::int64_t side = sides_ == Sides::equal ? 0 : draw_.integer(-1, 1);
    const double x = side == 0 ? *root : step(*root, t.dtype, side > 0);
    if (!std::isfinite(x)) return;
    set_element(t, spot.element, x);
    count(difference(spot, element(t, spot.element)));
  }

  /// A number of the type at which the difference is 0 or beside which it changes its sign.
  std::optional<double> root_of(const Spot& spot, DType dtype, double before) {
    double low = before, high = before;
    const double here = difference(spot, before);
    if (std::isnan(here)) return std::nullopt;
    if (here == 0) return before;
    // Secants find the root of what is affine at once; what is monotone is bracketed first.
    double x0 = before, f0 = here, x1 = before + std::max(std::abs(before), 1.0) / 2;
    for (int k = 0; k < 6; ++k) {
      const double f1 = difference(spot, x1);
      if (f1 == 0) return finish(spot, x1, dtype);
      if (std::isnan(f1) || f1 == f0) break;
      if ((f1 < 0) != (here < 0)) {
        low = before, high = x1;
      }
      const double next = x1 - f1 * (x1 - x0) / (f1 - f0);
      if (!std::isfinite(next)) break;
      x0 = std::exchange(x1, next);
      f0 = f1;
      if (std::abs(x1 - x0) <= std::ldexp(std::abs(x1), 2 - spec::format_of(dtype).precision)) return finish(spot, x1, dtype);
    }
    // What leaves the range of doubles has no secant.
    for (double reach = 1; low == high && reach <= 0x1p11; reach *= 2) {
      for (const double x : {before + reach, before - reach}) {
        const double f = difference(spot, x);
        if (low == high && !std::isnan(f) && (f < 0) != (here < 0)) high = x;
      }
    }
    if (low == high) return std::nullopt;
    for (int k = 0; k < 60; ++k) {
      const double middle = low + (high - low) / 2, f = difference(spot, middle);
      if (f == 0) return finish(spot, middle, dtype);
      ((f < 0) == (here < 0) ? low : high) = middle;
    }
    return finish(spot, high, dtype);
  }

  std::optional<double> finish(const Spot& spot, double x, DType dtype) {
    const double near = rounded(x, dtype);
    if (!std::isfinite(near)) return std::nullopt;
    for (const double y : {near, step(near, dtype, true), step(near, dtype, false)}) {
      if (difference(spot, y) == 0) return y;
    }
    return near;
  }

  void solve_integer(const Spot& spot, bool equality) {
    HostTensor& t = *inputs_[spot.input];
    const double before = element(t, spot.element);
    if (std::abs(before) > 0x1p50) return;
    const double f0 = difference(spot, before), slope = difference(spot, before + 1) - f0;
    if (slope == 0 || !std::isfinite(f0 / slope)) return;
    // Beside what is equal to a number stands nothing in particular.
    const double beside = equality ? 0 : static_cast<double>(draw_.integer(-1, 1));
    const double root = std::floor(before - f0 / slope) + beside;
    // A hash has no slope.
    if (std::abs(root) > 0x1p50 || f0 - difference(spot, before - 1) != slope || difference(spot, root + 1) - difference(spot, root) != slope) return;
    set_element(t, spot.element, root);
    count(difference(spot, element(t, spot.element)));
  }

  void count(double difference) {
    if (!counted_) return;
    if (difference < 0) ++met_.below;
    if (difference == 0) ++met_.at;
    if (difference > 0) ++met_.above;
  }

  const spec::System& system_;
  std::vector<HostTensor*>& inputs_;
  Sides sides_;
  Draw& draw_;
  std::vector<Turning> turnings_;
  spec::System asked_;
  std::vector<Array> arrays_;
  Met met_;
  bool counted_ = true;
  int steps_ = 0;
};

}  // namespace

Met meet_thresholds(const spec::System& system, std::vector<HostTensor*>& inputs, std::size_t wanted, Sides sides, Draw& draw) {
  return Meeting(system, inputs, sides, draw).run(wanted);
}

}  // namespace etalon::conformance
