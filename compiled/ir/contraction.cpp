#include "compiled/ir/contraction.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiled/ir/access.hpp"
#include "compiled/ir/affine.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

Expr without_detach(const Expr& e) { return e.form() == Form::detach ? without_detach(e->args[0]) : e; }

/// Whether a factor is computed in the arithmetic's own type: it reads real numbers, none of them wider.
bool has_type(const System& system, const Expr& factor, DType type) {
  bool real = false;
  bool wider = false;
  for_each_read(factor, [&](const Expr& x) {
    if (x.kind() != Kind::real) return;
    real = true;
    wider = wider || (type == DType::f32 && system[x->tensor].dtype == DType::f64);
  });
  return real && !wider && (type == DType::f64 || is_single(system, factor));
}

/// Positions of the binders that one factor alone knows.
std::vector<std::size_t> own_binders(const Equation& equation, const Expr& factor, const Expr& other) {
  std::vector<std::size_t> own;
  for (std::size_t b = 0; b < equation.binders.size(); ++b) {
    const spec::VariableId v = equation.binders[b].variable;
    if (loops::mentions(factor, v) && !loops::mentions(other, v)) own.push_back(b);
  }
  return own;
}

std::size_t longest(const Equation& equation, const std::vector<std::size_t>& binders) {
  return *std::max_element(binders.begin(), binders.end(), [&](std::size_t a, std::size_t b) {
    return equation.binders[a].extent < equation.binders[b].extent;
  });
}

/// The binder whose elements lie side by side in the target, if it is long enough.
std::optional<std::size_t> contiguous(const System& system, const Equation& equation, const std::vector<std::size_t>& binders) {
  const loops::Affine element = loops::element_number(equation.place, system[equation.target].dims);
  for (const std::size_t b : binders) {
    const auto along = access_along(element, equation.binders[b].variable);
    if (along && along->inner == 1 && equation.binders[b].extent >= threshold("least_columns")) return b;
  }
  return std::nullopt;
}

bool knows_any(const Expr& e, const Equation& equation, const std::vector<std::size_t>& binders) {
  return std::any_of(binders.begin(), binders.end(), [&](std::size_t b) { return loops::mentions(e, equation.binders[b].variable); });
}

/// Whether every read of a factor is in range whatever the loops are.
bool always_in_range(const System& system, const Expr& factor, const Equation& equation, const std::vector<Binder>& depth) {
  loops::Extents extents;
  for (const Binder& b : equation.binders) extents[b.variable] = b.extent;
  for (const Binder& b : depth) extents[b.variable] = b.extent;
  return !holds(factor, [&](const Expr& x) { return x.form() == Form::read && !loops::in_range(system, x, extents); });
}

bool known_to_one(const Contraction& c) {
  return std::all_of(c.depth.begin(), c.depth.end(), [&](const Binder& b) {
    return loops::mentions(c.left, b.variable) || loops::mentions(c.right, b.variable);
  });
}

}  // namespace

std::variant<Contraction, std::string> recognise_contraction(const System& system, const Equation& equation) {
  const Expr& value = equation.value;
  if (value.form() != Form::reduce || value->reduction != spec::Reduction::sum || value.kind() != Kind::real) return "no sum of reals";
  if (std::any_of(value->binders.begin(), value->binders.end(), [](const spec::Binder& b) { return b.extent == 0; })) return "it has no terms";
  const Expr body = without_detach(value->args[1]);
  if (!body.is(Primitive::mul) || has_reduction(body)) return "its terms are no products";
  Contraction c;
  c.type = arithmetic_type(system, equation);
  c.depth = value->binders;
  c.left = without_detach(body->args[0]);
  c.right = without_detach(body->args[1]);
  if (!has_type(system, c.left, c.type) || !has_type(system, c.right, c.type)) return "a factor has another type";
  std::vector<std::size_t> rows = own_binders(equation, c.left, c.right);
  std::vector<std::size_t> columns = own_binders(equation, c.right, c.left);
  if (rows.empty() || columns.empty()) return "a factor has no loop of its own";
  if (!known_to_one(c)) return "a loop of the sum is in no factor";
  const auto length = [&](const std::vector<std::size_t>& binders) { return equation.binders[longest(equation, binders)].extent; };
  const bool neither = !contiguous(system, equation, rows) && !contiguous(system, equation, columns);
  if (contiguous(system, equation, rows) || (neither && length(columns) < threshold("least_columns") && length(rows) > length(columns))) {
    std::swap(rows, columns);
    std::swap(c.left, c.right);
  }
  if (const Expr& guard = value->args[0]; guard.form() != Form::number || guard->number.mantissa == 0) {
    if (has_reduction(guard)) return "its guard is a reduction";
    if (knows_any(guard, equation, rows)) {
      if (knows_any(guard, equation, columns)) return "its guard knows rows and columns";
      std::swap(rows, columns);
      std::swap(c.left, c.right);
    }
    if (!always_in_range(system, c.left, equation, c.depth)) return "a factor may be read only where the guard holds";
    c.guard = guard;
  }
  c.column = contiguous(system, equation, columns).value_or(longest(equation, columns));
  c.row = longest(equation, rows);
  return c;
}

}  // namespace etalon::compiled
