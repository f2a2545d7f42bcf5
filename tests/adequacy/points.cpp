#include "tests/adequacy/points.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "spec/system/affine.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
using Point = std::map<spec::VariableId, std::int64_t>;

// Indices and conditions without data: truth values are 0 and 1. Nothing where data enters.
std::optional<std::int64_t> value_at(const Expr& e, const Point& point) {
  if (e.form() == Form::number && e.kind() != Kind::real) return e->number.mantissa;
  if (e.form() == Form::variable) {
    const auto found = point.find(e->variable);
    return found == point.end() ? std::nullopt : std::optional(found->second);
  }
  if (e.form() != Form::apply || e->args.empty() || e->args.size() > 2) return std::nullopt;
  const auto left = value_at(e->args[0], point);
  const auto right = e->args.size() > 1 ? value_at(e->args[1], point) : std::optional<std::int64_t>(0);
  if (e.is(Primitive::logical_and) && (left == 0 || right == 0)) return 0;
  if (e.is(Primitive::logical_or) && (left.value_or(0) != 0 || right.value_or(0) != 0)) return 1;
  if (!left || !right) return std::nullopt;
  const std::int64_t a = *left, b = *right;
  switch (e->primitive) {
    case Primitive::add:
      return a + b;
    case Primitive::sub:
      return a - b;
    case Primitive::mul:
      return a * b;
    case Primitive::neg:
      return -a;
    case Primitive::maximum:
      return std::max(a, b);
    case Primitive::minimum:
      return std::min(a, b);
    case Primitive::floor_div:
      return b <= 0 ? std::nullopt : std::optional(spec::floor_quotient(a, b));
    case Primitive::modulo:
      return b <= 0 ? std::nullopt : std::optional(spec::floor_remainder(a, b));
    case Primitive::eq:
      return a == b;
    case Primitive::ne:
      return a != b;
    case Primitive::lt:
      return a < b;
    case Primitive::le:
      return a <= b;
    case Primitive::gt:
      return a > b;
    case Primitive::ge:
      return a >= b;
    case Primitive::logical_and:
      return a != 0 && b != 0;
    case Primitive::logical_or:
      return a != 0 || b != 0;
    case Primitive::logical_not:
      return a == 0;
    default:
      return std::nullopt;
  }
}

bool equal_at(const Expr& a, const Expr& b, const Point& point) {
  if (a == b) return true;
  const auto x = value_at(a, point), y = value_at(b, point);
  return x && y && *x == *y;
}

bool reads_nothing(const Expr& e) {
  bool reads = false;
  spec::for_each(e, [&](const Expr& sub) { reads = reads || sub.form() == Form::read; });
  return !reads;
}

// The reduction that says where an extremum is, with the place of the read in it; nothing where the tensor is another, or its
// guard depends on data.
std::optional<Expr> position_at(const spec::System& system, const Expr& read) {
  if (read.form() != Form::read || !std::all_of(read->args.begin(), read->args.end(), reads_nothing)) return std::nullopt;
  const spec::Equation* only = nullptr;
  for (const spec::Equation& e : system.equations) {
    if (e.target != read->tensor) continue;
    if (only != nullptr) return std::nullopt;
    only = &e;
  }
  if (only == nullptr || only->value.form() != Form::reduce || only->value->args.size() < 3) return std::nullopt;
  const Expr& reduction = only->value;
  if (reduction->reduction != spec::Reduction::argmax && reduction->reduction != spec::Reduction::argmin) return std::nullopt;
  if (!reads_nothing(reduction->args[0]) || reduction->args[2].form() != Form::number) return std::nullopt;
  spec::Substitution at;
  for (std::size_t k = 0; k < only->place.size(); ++k) {
    if (only->place[k].form() != Form::variable) return std::nullopt;
    at[only->place[k]->variable] = read->args[k];
  }
  return spec::substitute(reduction, at);
}

// Loops over the binders, and then over what is read of positions.
class Visiting {
 public:
  Visiting(const spec::System& system, const std::vector<Binder>& binders, std::vector<Expr> conditions, std::vector<std::pair<Expr, Expr>> pairs)
      : system_(system), binders_(binders), conditions_(std::move(conditions)), pairs_(std::move(pairs)), next_(system.next_variable) {
    for (Expr& c : conditions_) c = named(c);
    for (auto& [a, b] : pairs_) a = named(a), b = named(b);
  }

  bool run() { return indices(0) && met_ > 0; }

 private:
  struct Position {
    Expr read, reduction;
    spec::VariableId variable;
  };

  // With a variable in place of each position that is read.
  Expr named(const Expr& e) {
    if (const auto reduction = position_at(system_, e)) {
      const auto found = std::find_if(positions_.begin(), positions_.end(), [&](const Position& p) { return p.read == e; });
      const spec::VariableId variable = found == positions_.end() ? next_++ : found->variable;
      if (found == positions_.end()) positions_.push_back({e, *reduction, variable});
      return spec::variable({variable, 1, "position"});
    }
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(named(a));
    return args.empty() ? e : spec::with_args(e, args);
  }

  bool indices(std::size_t k) {
    if (k == binders_.size()) return positions(0);
    for (std::int64_t i = 0; i < binders_[k].extent; ++i) {
      point_[binders_[k].variable] = i;
      if (!indices(k + 1)) return false;
    }
    return true;
  }

  bool positions(std::size_t k) {
    if (k == positions_.size()) return visit();
    const std::vector<std::int64_t> all = allowed(positions_[k].reduction);
    return std::all_of(all.begin(), all.end(), [&](std::int64_t position) {
      point_[positions_[k].variable] = position;
      return positions(k + 1);
    });
  }

  // Row-major; where the guard allows none, what the reduction gives otherwise. What cannot be decided is allowed.
  std::vector<std::int64_t> allowed(const Expr& reduction) {
    std::vector<std::int64_t> all;
    std::int64_t count = 1;
    for (const Binder& b : reduction->binders) count *= b.extent;
    for (std::int64_t position = 0; position < count && steps_++ < most; ++position) {
      Point inside = point_;
      std::int64_t rest = position;
      for (auto b = reduction->binders.rbegin(); b != reduction->binders.rend(); ++b) {
        inside[b->variable] = rest % b->extent;
        rest /= b->extent;
      }
      if (value_at(reduction->args[0], inside).value_or(1) != 0) all.push_back(position);
    }
    if (all.empty()) all.push_back(reduction->args[2]->number.mantissa);
    return all;
  }

  bool visit() {
    if (++steps_ > most) return false;
    const bool reached = std::all_of(conditions_.begin(), conditions_.end(),
                                     [&](const Expr& c) { return value_at(c, point_).value_or(1) != 0; });
    ++met_;
    return !reached || std::all_of(pairs_.begin(), pairs_.end(), [&](const auto& p) { return equal_at(p.first, p.second, point_); });
  }

  static constexpr std::int64_t most = 20000;
  const spec::System& system_;
  const std::vector<Binder>& binders_;
  std::vector<Expr> conditions_;
  std::vector<std::pair<Expr, Expr>> pairs_;
  std::vector<Position> positions_;
  Point point_;
  spec::VariableId next_;
  std::int64_t steps_ = 0, met_ = 0;
};

}  // namespace

bool are_equal_at_all_points(const spec::System& system, const std::vector<Binder>& binders, std::vector<Expr> conditions,
                             std::vector<std::pair<Expr, Expr>> pairs) {
  return Visiting(system, binders, std::move(conditions), std::move(pairs)).run();
}

}  // namespace etalon::adequacy
