#include "conformance/schemas/decay.hpp"

#include <algorithm>

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

[[nodiscard]] bool is_one_less(const Expr& e) {
  return e.is(Primitive::sub) && e->args[0].form() == spec::Form::number && e->args[0]->number.is(1);
}

/// p - b·p for a product p·(1 - b).
[[nodiscard]] std::optional<Expr> apart(const Expr& term) {
  std::vector<Factor> factors = factors_of(term);
  const auto found = std::find_if(factors.begin(), factors.end(), [](const Factor& f) { return !f.divides && is_one_less(f.value); });
  if (factors.size() < 2 || found == factors.end()) return std::nullopt;
  const Expr b = found->value->args[1];
  factors.erase(found);
  const Expr p = product_of(factors);
  return p - b * p;
}

}  // namespace

std::optional<spec::System> with_decay_apart(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    const auto p = e.is(Primitive::sub) ? apart(e->args[0]) : std::nullopt;
    return p ? std::optional(*p - e->args[1]) : std::nullopt;
  });
}

}  // namespace etalon::conformance
