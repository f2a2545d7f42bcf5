#include "reference/bounds/constants.hpp"

#include <cmath>
#include <limits>

#include "reference/bounds/evaluator.hpp"

namespace etalon::reference::bounds {

Held hold(const spec::Expr& e) {
  spec::System system;
  const spec::TensorId t = system.add_tensor("constant", DType::f64, {});
  system.define(t, {}, e);
  system.outputs.push_back(t);
  const Plan p = plan(system);
  const spec::Contract contract;
  Decisions decisions;
  DecisionSets sets;
  Evaluator<Quad> evaluator(system, p, {}, contract, decisions, sets);
  evaluator.run();
  const Value<Quad> v = evaluator.real_at(t, 0);
  if (!v.may(admits_finite)) {
    if (v.may(admits_nan)) return {std::nan(""), 0, false};
    return {static_cast<Quad>(v.may(admits_positive_infinity) ? infinity : -infinity), 0, false};
  }
  if (v.may(interval_only) || v.is_zero_of_any_sign()) return {0, 0, true};
  if (v.is_zero()) return {v.negative_zero ? -Quad(0) : Quad(0), 0, false};
  Held held{v.reference, v.local, false};
  if (v.node == no_node) return held;
  const double below = evaluator.tape().error(v.node, ~std::size_t{0}).bound;
  held.error = add_up(held.error, mul_up(std::fabs(v.coefficient), below));
  return held;
}

}  // namespace etalon::reference::bounds
