// A copy whose elements lie side by side along one loop and are stored side by side along another.
#include <algorithm>
#include <optional>

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

namespace {

/// What the reads of an expression do when a loop goes one further.
struct Strides {
  bool one = false;        ///< some element is the next one
  bool irregular = false;  ///< some element is neither the same nor the next one
};

/// \param width lanes of a vector, which lie side by side where panels hold whole vectors.
Strides strides(const spec::System& system, const Expr& e, spec::VariableId v, unsigned width) {
  Strides seen;
  for_each_read(e, [&](const Expr& x) {
    const Affine element = element_number(x->args, system[x->tensor].dims);
    const auto along = access_along(element, v);
    if (along && along->panel % width == 0 && along->panel != 0 && along->inner == 1) {
      seen.one = true;
      return;
    }
    const std::int64_t stride = element.coefficient(v);
    const bool opaque = std::any_of(element.opaque.begin(), element.opaque.end(), [&](const auto& t) { return mentions(t.second, v); });
    seen.one = seen.one || (stride == 1 && !opaque);
    seen.irregular = seen.irregular || opaque || (stride != 0 && stride != 1);
  });
  return seen;
}

}  // namespace

/// Lowers the equation as squares that change places, when they pay. \returns whether it did.
bool Lowering::lower_transposed(const Equation& equation) {
  if (machine_.is_grid()) return false;
  const unsigned width = vectors_for(equation).machine;
  const DType dtype = system_[equation.target].dtype;
  if (width < 4 || equation.binders.size() < 3 || dtype != arithmetic_type(system_, equation) || has_reduction(equation.value)) return false;
  const Affine stored = element_number(equation.place, system_[equation.target].dims);
  std::optional<Binder> across;
  std::optional<Binder> down;
  for (const Binder& b : equation.binders) {
    const Strides s = strides(system_, equation.value, b.variable, width);
    if (stored.coefficient(b.variable) == 1 && s.irregular && b.extent % width == 0) down = b;
    if (stored.coefficient(b.variable) != 1 && s.one && !s.irregular && 2 * b.extent >= width) across = b;
  }
  if (!down || !across || is_shared(*down) || is_shared(*across)) return false;
  start(equation);
  count_work(equation.binders, equation.value);
  std::size_t opened = 0;
  for (const Binder& b : equation.binders) {
    if (b == *across || b == *down || is_shared(b)) continue;
    open(b);
    ++opened;
  }
  Transpose t;
  t.across = *across;
  t.down = *down;
  t.width = width;
  open(*across);
  open(*down);
  t.value = strip(equation.value, {});
  const Expr moved = fresh_register(Kind::real, open_.size() - 1);
  t.target = moved->variable;
  t.store.tensor = equation.target;
  t.store.place = equation.place;
  of_one_turn(equation.target, t.store.place);
  t.store.value = moved;
  open_.resize(open_.size() - 2);
  append(open_.size() - 1, step(std::move(t)));
  while (opened-- > 0) close();
  return true;
}

}  // namespace etalon::compiled::loops
