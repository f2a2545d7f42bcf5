#include "conformance/schemas/squares.hpp"

#include <algorithm>

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

/// The y of 1 - y·y.
[[nodiscard]] std::optional<Expr> root_in(const Expr& e) {
  if (!e.is(Primitive::sub) || e->args[0].form() != spec::Form::number || !e->args[0]->number.is(1)) return std::nullopt;
  const Expr& square = e->args[1];
  if (!square.is(Primitive::mul) || !(square->args[0] == square->args[1])) return std::nullopt;
  return square->args[0];
}

}  // namespace

std::optional<spec::System> with_squares_apart(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::mul)) return std::nullopt;
    std::vector<Factor> factors = factors_of(e);
    const auto found = std::find_if(factors.begin(), factors.end(), [](const Factor& f) { return !f.divides && root_in(f.value); });
    if (found == factors.end()) return std::nullopt;
    const Expr y = *root_in(found->value);
    factors.erase(found);
    const Expr t = product_of(factors);
    return (t + t * y) * (spec::decimal(1) - y);
  });
}

}  // namespace etalon::conformance
