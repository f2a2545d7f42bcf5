#include "compiled/schedule/equation_shape.hpp"

#include <algorithm>
#include <unordered_set>

namespace etalon::compiled {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::System;
using spec::TensorId;

namespace {

std::int64_t points_of(const std::vector<Binder>& binders) {
  std::int64_t points = 1;
  for (const Binder& b : binders) points *= b.extent;
  return points;
}

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

}  // namespace etalon::compiled
