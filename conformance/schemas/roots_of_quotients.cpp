#include "conformance/schemas/roots_of_quotients.hpp"

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {

std::optional<spec::System> with_roots_apart(const spec::System& system) {
  using spec::Expr;
  using spec::Primitive;
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::sqrt) || !e->args[0].is(Primitive::div)) return std::nullopt;
    const Expr& quotient = e->args[0];
    return spec::apply(Primitive::sqrt, {quotient->args[0]}) / spec::apply(Primitive::sqrt, {quotient->args[1]});
  });
}

}  // namespace etalon::conformance
