#include "tests/adequacy/lost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "spec/contract/contract.hpp"
#include "tests/adequacy/folding.hpp"
#include "tests/adequacy/per_unit.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using spec::Reduction;
using Shifts = std::vector<std::optional<Shift>>;

constexpr double infinity = std::numeric_limits<double>::infinity();

double largest(const Reach& r) { return std::max(std::fabs(r.low), std::fabs(r.high)); }
double least(const Reach& r) { return r.low > 0 ? r.low : r.high < 0 ? -r.high : 0; }
bool lies_in(const Reach& r, double end) { return r.low >= -end && r.high <= end; }

// What changes nothing takes no part, however large the other factor is.
double times(double by, double factor) { return by == 0 || factor == 0 ? 0 : by * factor; }

// One equation, of which some reads are shifted.
class Look {
 public:
  /// \param factor what the value is multiplied by is at most that power of two
  Look(DType dtype, Reaches& reaches, const Shifts& shifts, const Site* site, const Shift& at, int factor = 0)
      : format_(spec::format_of(dtype)), factor_(factor), reaches_(reaches), shifts_(shifts), site_(site), at_(at) {}

  // Infinite where nothing is known.
  double by(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    if (!is_shifted(e)) return 0;
    const double shift = plain(e, binders, conditions);
    const bool rounds = e.form() == Form::apply || (e.form() == Form::reduce && e->reduction == Reduction::sum);
    if (!rounds || e.kind() != Kind::real || !std::isfinite(shift)) return shift;
    const Reach there = near(e, binders, conditions);
    const double zero = std::ldexp(1.0, format_.emin - format_.precision - 1 - factor_);  // below half the smallest number
    return shift <= 0x1p-54 * least(there) || largest(there) <= zero ? 0 : shift;
  }

  // Whether it is 0 where what it reads becomes 0.
  bool becomes_zero(const Expr& e, const std::vector<Binder>& binders) {
    const auto one = only_read(e);
    if (!one || !shifts_[static_cast<std::size_t>(one->first)]->to_zero) return false;
    const Reach there = reaches_.where(one->first, {0, 0, true}).of(e, binders, {});
    return there.low == 0 && there.high == 0;
  }

  // Where the value lies that changes: all that it reads is known where it reads one shifted element.
  Reach near(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    if (site_ != nullptr && e == site_->node) return at_.near;
    const auto one = only_read(e);
    if (!one) return reaches_.of(e, binders, conditions);
    Reaches there = reaches_.where(one->first, one->second);
    return there.of(e, binders, conditions);
  }

 private:
  const Shift* shift_of(const Expr& e) const {
    if (site_ != nullptr && e == site_->node) return &at_;
    if (e.form() != Form::read) return nullptr;
    const auto& shift = shifts_[static_cast<std::size_t>(e->tensor)];
    return shift ? &*shift : nullptr;
  }

  bool is_shifted(const Expr& e) const {
    return shift_of(e) != nullptr ||
           std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_shifted(a); });
  }

  // The one tensor that is shifted and read at one place alone, with no reduction between.
  std::optional<std::pair<spec::TensorId, Reach>> only_read(const Expr& e) const {
    std::optional<Expr> found;
    bool others = false;
    spec::for_each(e, [&](const Expr& sub) {
      if (sub.form() == Form::reduce) others = true;
      if (shift_of(sub) == nullptr) return;
      others = others || sub.form() != Form::read || (site_ != nullptr && sub == site_->node) || (found && *found != sub);
      found = sub;
    });
    if (!found || others) return std::nullopt;
    return std::pair{(*found)->tensor, shift_of(*found)->near};
  }

  double plain(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    if (const Shift* shift = shift_of(e)) {
      const bool same_place =
          std::none_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_shifted(a); });
      return same_place ? shift->by : infinity;
    }
    switch (e.form()) {
      case Form::apply:
        return e.kind() == Kind::real ? primitive(e, binders, conditions) : test(e, binders, conditions);
      case Form::select:
        return choice(e, binders, conditions);
      case Form::reduce:
        return reduction(e, binders, conditions);
      case Form::detach:
        return by(e->args[0], binders, conditions);
      default:
        return infinity;
    }
  }

  double choice(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    if (by(e->args[0], binders, conditions) != 0) return either(e, binders, conditions);
    std::vector<Expr> then = conditions, otherwise = conditions;
    then.push_back(e->args[0]);
    otherwise.push_back(spec::apply(Primitive::logical_not, {e->args[0]}));
    return std::max(by(e->args[1], binders, then), by(e->args[2], binders, otherwise));
  }

  // Where the condition may be another: the arms agree where the element is 0, or all that is known is where they lie.
  double either(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    const auto one = only_read(e);
    if (!one) return infinity;
    if (shifts_[static_cast<std::size_t>(one->first)]->to_zero) {
      Reaches at_zero = reaches_.where(one->first, {0, 0, true});
      const Reach a = at_zero.of(e->args[1], binders, {}), b = at_zero.of(e->args[2], binders, {});
      const bool same_text = folded(at_zero_of(e->args[1], one->first)) == folded(at_zero_of(e->args[2], one->first));
      if (same_text || (a.low == a.high && a.low == b.low && b.low == b.high)) {
        const double shift = by(e->args[1], binders, conditions) + by(e->args[2], binders, conditions);
        if (std::isfinite(shift)) return shift;
      }
    }
    const Reach a = near(e->args[1], binders, conditions), b = near(e->args[2], binders, conditions);
    return std::max(a.high, b.high) - std::min(a.low, b.low);
  }

  // With 0 in place of the tensor's element.
  static Expr at_zero_of(const Expr& e, spec::TensorId tensor) {
    if (e.form() == Form::read && e->tensor == tensor) return spec::decimal(0);
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(at_zero_of(a, tensor));
    return args.empty() ? e : spec::with_args(e, args);
  }

  double reduction(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    const bool is_sum = e->reduction == Reduction::sum;
    const bool is_extremum = e->reduction == Reduction::max || e->reduction == Reduction::min;
    if (by(e->args[0], binders, conditions) != 0 || !(is_sum || is_extremum) || (e->args.size() > 2 && is_shifted(e->args[2])))
      return infinity;
    std::vector<Binder> inside = binders;
    inside.insert(inside.end(), e->binders.begin(), e->binders.end());
    std::vector<Expr> holds = conditions;
    holds.push_back(e->args[0]);
    double terms = 1;
    for (const Binder& b : e->binders) terms *= static_cast<double>(b.extent);
    return times(by(e->args[1], inside, holds), is_sum ? terms : 1);
  }

  // 0 where it is decided the same before and after.
  double test(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    if (e.is(Primitive::is_nan) || e.is(Primitive::is_inf) || e.is(Primitive::is_finite))
      return std::isfinite(largest(near(e->args[0], binders, conditions))) ? 0 : infinity;
    if (e.is(Primitive::logical_and) || e.is(Primitive::logical_or) || e.is(Primitive::logical_not)) {
      const bool same = std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return by(a, binders, conditions) == 0; });
      return same ? 0 : infinity;
    }
    if (e->args.size() != 2 || e->args[0].kind() != Kind::real) return infinity;
    const Reach a = near(e->args[0], binders, conditions), b = near(e->args[1], binders, conditions);
    return a.high < b.low || a.low > b.high ? 0 : infinity;
  }

  double primitive(const Expr& e, const std::vector<Binder>& binders, const std::vector<Expr>& conditions) {
    const auto shift = [&](std::size_t k) { return by(e->args[k], binders, conditions); };
    const auto where = [&](std::size_t k) { return near(e->args[k], binders, conditions); };
    constexpr double tiny = 0x1p-60;
    bool same = true;
    for (std::size_t k = 0; k < e->args.size(); ++k) same = same && shift(k) == 0;
    if (same) return 0;
    switch (e->primitive) {
      case Primitive::neg:
      case Primitive::abs:
        return shift(0);
      case Primitive::add:
      case Primitive::sub:
        return shift(0) + shift(1);
      case Primitive::maximum:
      case Primitive::minimum:
        return std::max(shift(0), shift(1));
      case Primitive::mul: {
        const double a = shift(0), b = shift(1);
        return times(a, largest(where(1))) + times(b, largest(where(0))) + times(a, b);
      }
      case Primitive::div:
        return shift(1) == 0 && least(where(1)) > 0 ? shift(0) / least(where(1)) : infinity;
      case Primitive::exp:
      case Primitive::exp2:  // relative to their value
        return shift(0) <= tiny ? 0 : infinity;
      case Primitive::cos:
      case Primitive::cosh:  // beside 0
        return lies_in(where(0), 1) && shift(0) <= tiny ? 0 : infinity;
      case Primitive::sin:
      case Primitive::tanh:
      case Primitive::erf:
        return 2 * shift(0);
      case Primitive::expm1:
      case Primitive::log1p:
      case Primitive::sinh:
      case Primitive::tan:
        return lies_in(where(0), 0.5) ? 4 * shift(0) : infinity;
      default:
        return infinity;
    }
  }

  const spec::Format format_;
  const int factor_;
  Reaches& reaches_;
  const Shifts& shifts_;
  const Site* site_;
  const Shift& at_;
};

}  // namespace

bool Lost::reaches_no_output(Shifts& shifts, std::size_t from, const Site* site, const Shift& at, const std::vector<Expr>& conditions) {
  for (std::size_t i = from; i < system_.equations.size(); ++i) {
    const spec::Equation& e = system_.equations[i];
    const auto target = static_cast<std::size_t>(e.target);
    bool recurs = false;
    spec::for_each(e.value, [&](const Expr& sub) { recurs = recurs || (sub.form() == Form::read && sub->tensor == e.target); });
    const bool is_here = site != nullptr && i == site->equation;
    Look look(system_[e.target].dtype, reaches_, shifts, is_here ? site : nullptr, at);
    const double by = look.by(e.value, e.binders, is_here ? conditions : std::vector<Expr>{});
    if (by == 0 || (!is_here && is_lost_per_unit(shifts, e))) continue;
    if (!std::isfinite(by) || recurs || shifts[target]) return false;
    shifts[target] = Shift{by, look.near(e.value, e.binders, {}), look.becomes_zero(e.value, e.binders)};
  }
  return std::none_of(system_.outputs.begin() + static_cast<std::ptrdiff_t>(first_output_), system_.outputs.end(),
                      [&](spec::TensorId t) { return shifts[static_cast<std::size_t>(t)].has_value(); });
}

// Of a derivative: by how much its terms change in proportion to the direction that each of them is multiplied by.
bool Lost::is_lost_per_unit(const Shifts& shifts, const spec::Equation& e) {
  return std::any_of(system_.inputs.begin(), system_.inputs.end(), [&](spec::TensorId t) {
    if (shifts[static_cast<std::size_t>(t)] || kind_of(system_[t].dtype) != Kind::real) return false;
    const auto unit = per_unit(e.value, t);
    if (!unit) return false;
    const Shift none{};
    Look look(system_[e.target].dtype, reaches_, shifts, nullptr, none, spec::format_of(system_[t].dtype).emax + 1);
    return look.by(*unit, e.binders, {}) == 0;
  });
}

bool Lost::is_lost(spec::TensorId tensor, const Shift& shift) {
  Shifts shifts(system_.tensors.size());
  shifts[static_cast<std::size_t>(tensor)] = shift;
  std::size_t from = 0;  // behind what gives the tensor
  for (std::size_t i = 0; i < system_.equations.size(); ++i) {
    if (system_.equations[i].target == tensor) from = i + 1;
  }
  for (std::size_t i = 0; i < from; ++i) {
    bool before = false;
    spec::for_each(system_.equations[i].value, [&](const Expr& e) { before = before || (e.form() == Form::read && e->tensor == tensor); });
    if (before) return false;  // a recurrence
  }
  return reaches_no_output(shifts, from, nullptr, shift, {});
}

bool Lost::is_lost(const Site& site, const Shift& shift, const Expr& condition) {
  if (site.node.kind() != Kind::real) return false;
  Shifts shifts(system_.tensors.size());
  // Within a reduction the condition is one of a term.
  const bool is_of_element = site.binders == system_.equations[site.equation].binders;
  return reaches_no_output(shifts, site.equation, &site, shift, is_of_element ? std::vector{condition} : std::vector<Expr>{});
}

}  // namespace etalon::adequacy
