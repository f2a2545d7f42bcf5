#include <algorithm>
#include <limits>

#include "conformance/interchange/stablehlo/expressions.hpp"
#include "conformance/interchange/stablehlo/primitives.hpp"

namespace etalon::conformance::stablehlo {
namespace {

using spec::Expr, spec::Form, spec::Node, spec::Primitive, spec::Reduction;

[[nodiscard]] const char* instruction(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return "add";
    case Reduction::prod:
      return "multiply";
    case Reduction::max:
    case Reduction::argmax:
      return "maximum";
    case Reduction::min:
    case Reduction::argmin:
      return "minimum";
    case Reduction::any:
      return "or";
    case Reduction::all:
      return "and";
  }
  return "";
}

[[nodiscard]] bool is_always(const Expr& guard) { return guard.form() == Form::number && guard->number.mantissa != 0; }

[[nodiscard]] std::vector<spec::VariableId> variables_of(std::span<const spec::Binder> binders) {
  std::vector<spec::VariableId> variables;
  for (const spec::Binder& binder : binders) variables.push_back(binder.variable);
  return variables;
}

}  // namespace

Tensor Expressions::identity(Reduction reduction, DType dtype) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<std::int64_t>;
  const bool is_real = kind_of(dtype) == Kind::real;
  switch (reduction) {
    case Reduction::sum:
      return is_real ? out_.real(0, dtype) : out_.integer(0);
    case Reduction::prod:
      return is_real ? out_.real(1, dtype) : out_.integer(1);
    case Reduction::max:
    case Reduction::argmax:
      return is_real ? out_.real(-infinity, dtype) : out_.integer(Limits::min());
    case Reduction::min:
    case Reduction::argmin:
      return is_real ? out_.real(infinity, dtype) : out_.integer(Limits::max());
    default:
      return out_.truth(reduction == Reduction::all);
  }
}

Spread Expressions::guarded(const Expr& guard, const Spread& body, const Tensor& otherwise) {
  return is_always(guard) ? body : select(guard, body, {otherwise, {}});
}

Spread Expressions::reduced(const char* operation, const Spread& body, const Tensor& identity,
                            std::span<const spec::Binder> binders) {
  const std::vector<spec::VariableId> bound = variables_of(binders);
  const Spread all[] = {body, {{}, bound}};
  const std::vector<spec::VariableId> over = scope_.joined(all);
  Spread result{out_.reduce(operation, scope_.spread(out_, body, over), identity, Scope::positions(bound, over)), {}};
  for (const spec::VariableId variable : over) {
    if (std::find(bound.begin(), bound.end(), variable) == bound.end()) result.over.push_back(variable);
  }
  return result;
}

Spread Expressions::reduce(const Node& node) {
  scope_.enter(node.binders);
  Spread found;
  if (is_contraction(node)) {
    found = contracted(node);
  } else {
    const Spread body = value(node.args[1]);
    const bool is_place = node.reduction == Reduction::argmax || node.reduction == Reduction::argmin;
    const Tensor neutral = identity(node.reduction, body.tensor.type.dtype);
    found = is_place
                ? position_of_extremum(node, body)
                : reduced(instruction(node.reduction), guarded(node.args[0], body, neutral), neutral, node.binders);
  }
  if (node.args.size() == 3) found = or_otherwise(node, found);
  scope_.leave(node.binders.size());
  return found;
}

/// Where nothing is reduced, the value for that.
Spread Expressions::or_otherwise(const Node& node, const Spread& found) {
  const bool is_empty =
      std::any_of(node.binders.begin(), node.binders.end(), [](const spec::Binder& b) { return b.extent == 0; });
  if (is_empty) return value(node.args[2]);
  if (is_always(node.args[0])) return found;
  const Spread any = reduced("or", value(node.args[0]), out_.truth(false), node.binders);
  const Spread all[] = {any, found, value(node.args[2])};
  const std::vector<spec::VariableId> over = scope_.joined(all);
  return {out_.select(scope_.spread(out_, all[0], over), scope_.spread(out_, all[1], over),
                      scope_.spread(out_, all[2], over)),
          over};
}

/// The least row-major position whose number is the extremum, or NaN.
Spread Expressions::position_of_extremum(const Node& node, const Spread& body) {
  const Tensor neutral = identity(node.reduction, body.tensor.type.dtype);
  const Spread extremum =
      reduced(instruction(node.reduction), guarded(node.args[0], body, neutral), neutral, node.binders);
  Expr position = spec::integer(0);
  for (const spec::Binder& binder : node.binders)
    position = position * spec::integer(binder.extent) + spec::variable(binder);
  const Spread all[] = {body, extremum, value(position)};
  const std::vector<spec::VariableId> over = scope_.joined(all);
  const Tensor number = scope_.spread(out_, body, over);
  Tensor hit = out_.compare("EQ", number, scope_.spread(out_, extremum, over));
  if (kind_of(number.type.dtype) == Kind::real) hit = out_.binary("or", hit, out_.compare("NE", number, number));
  const Tensor none = identity(Reduction::min, DType::i64);
  const Spread places{out_.select(hit, scope_.spread(out_, all[2], over), like(out_, none, hit)), over};
  return reduced("minimum", guarded(node.args[0], places, none), none, node.binders);
}

/// A sum of products of reals that both depend on everything that is summed over.
bool Expressions::is_contraction(const Node& node) const {
  if (node.reduction != Reduction::sum || node.kind != Kind::real || !is_always(node.args[0]) ||
      !node.args[1].is(Primitive::mul))
    return false;
  const auto depend = [&](const Expr& factor) {
    const std::vector<spec::VariableId> free = free_variables(factor);
    return std::all_of(node.binders.begin(), node.binders.end(),
                       [&](const spec::Binder& b) { return std::binary_search(free.begin(), free.end(), b.variable); });
  };
  return depend(node.args[1]->args[0]) && depend(node.args[1]->args[1]);
}

Spread Expressions::contracted(const Node& node) {
  const Spread a = value(node.args[1]->args[0]), b = value(node.args[1]->args[1]);
  const std::vector<spec::VariableId> bound = variables_of(node.binders);
  std::vector<spec::VariableId> batch, only_a, only_b;
  const auto has = [](const std::vector<spec::VariableId>& all, spec::VariableId v) {
    return std::find(all.begin(), all.end(), v) != all.end();
  };
  for (const spec::VariableId variable : a.over) {
    if (!has(bound, variable)) (has(b.over, variable) ? batch : only_a).push_back(variable);
  }
  for (const spec::VariableId variable : b.over) {
    if (!has(bound, variable) && !has(a.over, variable)) only_b.push_back(variable);
  }
  const Contraction along{Scope::positions(batch, a.over), Scope::positions(batch, b.over),
                          Scope::positions(bound, a.over), Scope::positions(bound, b.over)};
  std::vector<spec::VariableId> over = batch;
  over.insert(over.end(), only_a.begin(), only_a.end());
  over.insert(over.end(), only_b.begin(), only_b.end());
  return scope_.ordered(out_, out_.dot_general(a.tensor, b.tensor, along), over);
}

}  // namespace etalon::conformance::stablehlo
