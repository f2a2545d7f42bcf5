#include "compiled/ir/access.hpp"

#include <algorithm>
#include <utility>

#include "compiled/ir/language.hpp"

namespace etalon::compiled {

namespace {

bool is_part(const Expr& e, Primitive p, spec::VariableId v) {
  return e.is(p) && e->args[0].form() == spec::Form::variable && e->args[0]->variable == v &&
         e->args[1].form() == spec::Form::number;
}

}  // namespace

std::optional<Access> access_along(const loops::Affine& element, spec::VariableId v) {
  std::vector<std::pair<std::int64_t, Expr>> terms;
  for (const auto& term : element.opaque) {
    if (loops::mentions(term.second, v)) terms.push_back(term);
  }
  if (terms.empty()) return Access{0, 0, element.coefficient(v)};
  if (terms.size() != 2 || element.coefficient(v) != 0) return std::nullopt;
  if (is_part(terms[1].second, Primitive::floor_div, v)) std::swap(terms[0], terms[1]);
  const auto& [outer, quotient] = terms[0];
  const auto& [inner, remainder] = terms[1];
  if (!is_part(quotient, Primitive::floor_div, v) || !is_part(remainder, Primitive::modulo, v)) return std::nullopt;
  if (quotient->args[1]->number.mantissa != remainder->args[1]->number.mantissa) return std::nullopt;
  return Access{quotient->args[1]->number.mantissa, outer, inner};
}

std::optional<std::vector<std::int64_t>> steps_along(const loops::Affine& element, const std::vector<spec::Binder>& loops) {
  std::vector<std::int64_t> steps;
  for (const spec::Binder& b : loops) {
    const auto mentioned = [&](const auto& term) { return loops::mentions(term.second, b.variable); };
    if (std::any_of(element.opaque.begin(), element.opaque.end(), mentioned)) return std::nullopt;
    steps.push_back(element.coefficient(b.variable));
  }
  return steps;
}

std::optional<std::vector<std::size_t>> axes_of_binders(const spec::Equation& equation) {
  if (equation.place.size() != equation.binders.size()) return std::nullopt;
  std::vector<std::size_t> axes;
  for (const spec::Binder& b : equation.binders) {
    const auto at = std::find_if(equation.place.begin(), equation.place.end(), [&](const spec::Expr& p) {
      return p.form() == spec::Form::variable && p->variable == b.variable;
    });
    if (at == equation.place.end()) return std::nullopt;
    axes.push_back(static_cast<std::size_t>(at - equation.place.begin()));
  }
  return axes;
}

}  // namespace etalon::compiled
