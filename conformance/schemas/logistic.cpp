#include "conformance/schemas/logistic.hpp"

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

[[nodiscard]] bool is_one(const Expr& e) { return e.form() == spec::Form::number && e->number.is(1); }

/// The condition z < 0.
[[nodiscard]] bool says_negative(const Expr& condition) {
  return condition.is(Primitive::lt) && condition->args[1].form() == spec::Form::number && condition->args[1]->number.is(0);
}

/// 1/(1 + e^-z).
[[nodiscard]] bool is_logistic(const Expr& e, const Expr& z) {
  if (!e.is(Primitive::div) || !is_one(e->args[0]) || !e->args[1].is(Primitive::add) || !is_one(e->args[1]->args[0])) return false;
  return e->args[1]->args[1] == spec::apply(Primitive::exp, {-z});
}

}  // namespace

std::optional<spec::System> with_complements(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    if (e.form() != spec::Form::select || !says_negative(e->args[0]) || !is_logistic(e->args[2], e->args[0]->args[0])) return std::nullopt;
    const Expr& logistic = e->args[2];
    return spec::select(e->args[0], e->args[1], spec::decimal(1) - logistic->args[1]->args[1] / logistic->args[1]);
  });
}

}  // namespace etalon::conformance
