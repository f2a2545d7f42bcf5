#include "conformance/carried_seeds.hpp"

#include <algorithm>
#include <utility>
#include <vector>

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
  Carrying(spec::System& system, std::size_t operands) : system_(system), carried_(system.tensors.size(), false), numeric_(carried_) {
    for (std::size_t i = operands; i < system.inputs.size(); ++i) carried_[at(system.inputs[i])] = true;
    for (const spec::TensorId t : system.inputs) numeric_[at(t)] = kind_of(system[t].dtype) == Kind::real;
    spread(system, carried_);
    spread(system, numeric_);
  }

  [[nodiscard]] bool carries(spec::TensorId t) const { return carried_[at(t)]; }

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

  [[nodiscard]] static bool reads(const Expr& e, const std::vector<bool>& tensors) {
    if (e.form() == Form::read && tensors[at(e->tensor)]) return true;
    return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads(a, tensors); });
  }

  /// To all that is computed of them; within a recurrence a tensor is read before its equation stands.
  static void spread(const spec::System& system, std::vector<bool>& tensors) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const spec::Equation& q : system.equations) {
        if (tensors[at(q.target)] || !reads(q.value, tensors)) continue;
        changed = tensors[at(q.target)] = true;
      }
    }
  }

  /// Positions of extrema, too.
  [[nodiscard]] bool reads_reals(const Expr& e) const { return reads(e, numeric_); }

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
  std::vector<bool> carried_, numeric_;  ///< per tensor: a seed stands in it; it hangs on reals
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
