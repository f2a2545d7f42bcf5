#include <algorithm>
#include <utility>

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/schedule/fuse.hpp"

namespace etalon::compiled {

namespace {

Expr conjunction(const std::vector<Expr>& conjuncts) {
  Expr all = spec::boolean(true);
  for (std::size_t i = 0; i < conjuncts.size(); ++i) all = i == 0 ? conjuncts[0] : all && conjuncts[i];
  return all;
}

bool contains_read(const Expr& e) {
  return holds(e, [](const Expr& x) { return x.form() == Form::read; });
}

/// `read == binder` or `binder == read`, the read free of binders that are hit already and of this one.
std::optional<Scatter::Hit> hit_of(const Equation& equation, const Expr& conjunct,
                                   const std::vector<Scatter::Hit>& earlier) {
  if (!conjunct.is(Primitive::eq) || conjunct->args[0].kind() != Kind::integer) return std::nullopt;
  for (std::size_t side = 0; side < 2; ++side) {
    const auto position = position_of(conjunct->args[side], equation.binders);
    const Expr& index = conjunct->args[1 - side];
    if (!position || !contains_read(index)) continue;
    const std::vector<spec::VariableId> free = spec::free_variables(index);
    const auto mentions = [&](std::size_t binder) {
      return std::binary_search(free.begin(), free.end(), equation.binders[binder].variable);
    };
    const bool taken = std::any_of(earlier.begin(), earlier.end(),
                                   [&](const Scatter::Hit& h) { return h.binder == *position || mentions(h.binder); });
    if (!taken && !mentions(*position)) return Scatter::Hit{*position, index};
  }
  return std::nullopt;
}

/// The index of an earlier hit must not mention a binder that is hit later.
bool independent(const Equation& equation, const std::vector<Scatter::Hit>& hits) {
  for (const Scatter::Hit& a : hits) {
    const std::vector<spec::VariableId> free = spec::free_variables(a.index);
    for (const Scatter::Hit& b : hits) {
      if (std::binary_search(free.begin(), free.end(), equation.binders[b.binder].variable)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<Scatter> recognise_scatter(const spec::System& system, const Equation& equation) {
  const Expr& value = equation.value;
  if (value.form() != Form::reduce || value->reduction != spec::Reduction::sum) return std::nullopt;
  const DType stored = system[equation.target].dtype;
  if (value.kind() == Kind::real && (stored != arithmetic_type(system, equation) || type_of_part(system, equation, value) != stored)) return std::nullopt;
  if (value.kind() == Kind::integer && stored != DType::i64) return std::nullopt;
  if (!axes_of_binders(equation)) return std::nullopt;
  Scatter scatter;
  std::vector<Expr> before;
  std::vector<Expr> after;
  for (const Expr& c : conditions_of(value->args[0])) {
    if (auto hit = hit_of(equation, c, scatter.hits)) {
      scatter.hits.push_back(std::move(*hit));
      before.insert(before.end(), after.begin(), after.end());
      after.clear();
    } else {
      after.push_back(c);
    }
  }
  if (scatter.hits.empty() || !independent(equation, scatter.hits)) return std::nullopt;
  spec::Substitution by;
  for (const Scatter::Hit& h : scatter.hits) by.emplace(equation.binders[h.binder].variable, h.index);
  scatter.precondition = conjunction(before);
  if (!(spec::substitute(scatter.precondition, by) == scatter.precondition)) return std::nullopt;
  scatter.guard = spec::substitute(conjunction(after), by);
  scatter.body = spec::substitute(value->args[1], by);
  return scatter;
}

}  // namespace etalon::compiled
