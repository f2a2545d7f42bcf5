#include "compiled/schedule/equation_shape.hpp"

#include <algorithm>
#include <unordered_set>

#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

void measure(const System& system, const Expr& e, std::int64_t points, EquationShape& shape, std::int64_t& most) {
  ++shape.nodes;
  if (e.form() == Form::reduce) {
    shape.reduces = true;
    points *= points_of(e->binders);
    most = std::max(most, points);
  }
  if (e.form() == Form::read) shape.reads.push_back(e);
  for (const Expr& a : e->args) measure(system, a, points, shape, most);
}

}  // namespace

EquationShape shape_of(const System& system, const Equation& equation) {
  EquationShape shape;
  for (const Binder& b : equation.binders) shape.extents.push_back(b.extent);
  std::int64_t most = 0;
  measure(system, equation.value, points_of(equation.binders), shape, most);
  for (const Expr& p : equation.place) measure(system, p, points_of(equation.binders), shape, most);
  std::int64_t elements = 0;
  std::unordered_set<TensorId> seen;
  for (const Expr& r : shape.reads) {
    if (seen.insert(r->tensor).second) elements += system[r->tensor].dims.count();
  }
  shape.heavy = shape.reduces && most > elements;
  return shape;
}

std::size_t tensors_beside(const System& system, const Uses& uses, std::size_t contraction) {
  const auto elements = [&](TensorId t) { return system[t].dims.count(); };
  const TensorId first = system.equations[contraction].target;
  std::vector<TensorId> computed{first};
  std::unordered_set<TensorId> touched;
  for (std::size_t next = 0; next < computed.size() && computed.size() < threshold<std::size_t>("most_followers"); ++next) {
    for (const std::size_t i : uses.readers[static_cast<std::size_t>(computed[next])]) {
      const TensorId target = system.equations[i].target;
      const EquationShape shape = shape_of(system, system.equations[i]);
      if (shape.reduces || elements(target) != elements(first) || std::find(computed.begin(), computed.end(), target) != computed.end()) continue;
      computed.push_back(target);
      if (uses.is_output[static_cast<std::size_t>(target)]) touched.insert(target);
      for (const Expr& r : shape.reads) {
        if (elements(r->tensor) == elements(first)) touched.insert(r->tensor);
      }
    }
  }
  for (const TensorId t : computed) {
    if (!uses.is_output[static_cast<std::size_t>(t)]) touched.erase(t);
  }
  return touched.size();
}

}  // namespace etalon::compiled
