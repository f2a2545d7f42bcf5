#include "conformance/schemas/factors.hpp"

#include <algorithm>

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

void add_factors(const Expr& e, bool divides, std::vector<Factor>& into) {
  if (e.is(Primitive::neg)) {
    into.push_back({spec::decimal(-1), divides});
    return add_factors(e->args[0], divides, into);
  }
  if (e.is(Primitive::mul) || e.is(Primitive::div)) {
    add_factors(e->args[0], divides, into);
    return add_factors(e->args[1], e.is(Primitive::div) != divides, into);
  }
  into.push_back({e, divides});
}

[[nodiscard]] Expr rewritten(const Expr& e, const Rule& rule, bool& changed) {
  Expr inside = e;
  if (!e->args.empty()) {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(rewritten(a, rule, changed));
    inside = spec::with_args(e, std::move(args));
  }
  if (auto found = rule(inside)) {
    changed = true;
    return *found;
  }
  return inside;
}

}  // namespace

std::vector<Factor> factors_of(const Expr& e) {
  std::vector<Factor> factors;
  add_factors(e, false, factors);
  return factors;
}

Expr product_of(const std::vector<Factor>& factors) {
  Expr product;
  for (const Factor& f : factors) {
    if (!f.divides) product = product.valid() ? product * f.value : f.value;
  }
  if (!product.valid()) product = spec::decimal(1);
  for (const Factor& f : factors) {
    if (f.divides) product = product / f.value;
  }
  return product;
}

bool depends_on(const Expr& e, spec::VariableId variable) {
  const auto free = spec::free_variables(e);
  return std::binary_search(free.begin(), free.end(), variable);
}

std::optional<spec::System> rewritten_by(const spec::System& system, const Rule& rule) {
  spec::System result = system;
  bool changed = false;
  for (spec::Equation& q : result.equations) q.value = rewritten(q.value, rule, changed);
  return changed ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace etalon::conformance
