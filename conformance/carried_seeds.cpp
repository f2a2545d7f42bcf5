#include "conformance/carried_seeds.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "spec/derivative/dependence.hpp"
#include "spec/error.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

[[nodiscard]] Expr zero() { return spec::decimal(0); }

class Carrying {
 public:
  Carrying(spec::System& system, std::size_t operands)
      : system_(system), seeds_(system, std::span(system.inputs).subspan(operands)), numeric_(system.tensors.size(), false) {
    for (const spec::TensorId t : system.inputs) numeric_[at(t)] = kind_of(system[t].dtype) == Kind::real;
    // Within a recurrence a tensor is read before its equation stands.
    for (bool changed = true; changed;) {
      changed = false;
      for (const spec::Equation& q : system.equations) {
        if (numeric_[at(q.target)] || !reads_reals(q.value)) continue;
        changed = numeric_[at(q.target)] = true;
      }
    }
  }

  [[nodiscard]] bool carries(spec::TensorId t) const { return seeds_.has(t); }

  /// The seeds that stand in the expression, added up; nothing where there are none.
  [[nodiscard]] std::optional<Expr> of(const Expr& e) {
    switch (e.form()) {
      case Form::read: return carries(e->tensor) ? std::optional(anywhere(e)) : std::nullopt;
      case Form::select: return of_branches(e);
      case Form::reduce: {
        const auto body = of(e->args[1]);
        if (!body) return std::nullopt;
        return spec::reduce(spec::Reduction::sum, e->binders, without_reals(e->args[0]).value_or(spec::boolean(true)), *body);
      }
      default: break;
    }
    std::optional<Expr> sum;
    for (const Expr& a : e->args) sum = both(sum, of(a));
    return sum;
  }

 private:
  [[nodiscard]] static std::size_t at(spec::TensorId t) { return static_cast<std::size_t>(t); }

  [[nodiscard]] static std::optional<Expr> both(const std::optional<Expr>& a, const std::optional<Expr>& b) {
    return a && b ? std::optional(*a + *b) : a ? a : b;
  }

  /// Whether it hangs on reals in any way, as positions of extrema do.
  [[nodiscard]] bool reads_reals(const Expr& e) const {
    bool found = false;
    spec::for_each(e, [&](const Expr& part) { found = found || (part.form() == Form::read && numeric_[at(part->tensor)]); });
    return found;
  }

  /// What a condition says that hangs on no real number; nothing where that is all it says.
  [[nodiscard]] std::optional<Expr> without_reals(const Expr& condition) const {
    if (!reads_reals(condition)) return condition;
    if (!condition.is(Primitive::logical_and)) return std::nullopt;
    const auto a = without_reals(condition->args[0]), b = without_reals(condition->args[1]);
    return a && b ? std::optional(spec::apply(Primitive::logical_and, {*a, *b})) : a ? a : b;
  }

  /// The read at all places of the axes where the place hangs on reals, as that of an extremum does.
  [[nodiscard]] Expr anywhere(const Expr& read) {
    std::vector<spec::Binder> over;
    std::vector<Expr> places;
    for (std::size_t axis = 0; axis < read->args.size(); ++axis) {
      const bool fixed = !reads_reals(read->args[axis]);
      if (!fixed) over.push_back(system_.bind("any", system_[read->tensor].dims[axis]));
      places.push_back(fixed ? read->args[axis] : spec::variable(over.back()));
    }
    if (over.empty()) return read;
    return spec::reduce(spec::Reduction::sum, std::move(over), spec::boolean(true), with_args(read, std::move(places)));
  }

  [[nodiscard]] std::optional<Expr> of_branches(const Expr& e) {
    const auto then = of(e->args[1]), otherwise = of(e->args[2]), all = both(then, otherwise);
    if (!all) return std::nullopt;
    const auto condition = without_reals(e->args[0]);
    if (!condition) return all;
    return spec::select(*condition, reads_reals(e->args[0]) ? *all : then.value_or(zero()), otherwise.value_or(zero()));
  }

  spec::System& system_;
  spec::Dependence seeds_;
  std::vector<bool> numeric_;  ///< per tensor, whether it hangs on reals
};

}  // namespace

std::optional<spec::System> with_carried_seeds(const spec::System& system, std::size_t operands, std::size_t results) {
  spec::System carried = system;
  Carrying carrying(carried, operands);
  carried.outputs.erase(carried.outputs.begin(), carried.outputs.begin() + static_cast<std::ptrdiff_t>(results));
  if (std::none_of(carried.outputs.begin(), carried.outputs.end(), [&](spec::TensorId t) { return carrying.carries(t); })) return std::nullopt;
  for (spec::Equation& q : carried.equations) {
    if (carrying.carries(q.target)) q.value = carrying.of(q.value).value_or(zero());
  }
  spec::remove_dead(carried);
  try {
    spec::verify(carried);
  } catch (const SpecViolation&) {
    return std::nullopt;
  }
  return carried;
}

}  // namespace etalon::conformance
