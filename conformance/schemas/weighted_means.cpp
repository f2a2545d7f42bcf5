#include "conformance/schemas/weighted_means.hpp"

#include "conformance/schemas/factors.hpp"

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Primitive;

struct WeightedMean {
  Expr weight, rest_of_weight, first, second;
};

[[nodiscard]] bool is_one_less(const Expr& e, const Expr& weight) {
  return e.is(Primitive::sub) && e->args[0].form() == spec::Form::number && e->args[0]->number.is(1) && e->args[1] == weight;
}

/// The product without one factor.
[[nodiscard]] Expr without(std::vector<Factor> factors, std::size_t at) {
  factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(at));
  return product_of(factors);
}

/// w·p and (1 - w)·q, in this order.
[[nodiscard]] std::optional<WeightedMean> match(const Expr& a, const Expr& b) {
  const std::vector<Factor> of_a = factors_of(a), of_b = factors_of(b);
  if (of_a.size() < 2 || of_b.size() < 2) return std::nullopt;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    for (std::size_t j = 0; j < of_b.size(); ++j) {
      if (of_a[i].divides || of_b[j].divides || !is_one_less(of_b[j].value, of_a[i].value)) continue;
      return WeightedMean{of_a[i].value, of_b[j].value, without(of_a, i), without(of_b, j)};
    }
  }
  return std::nullopt;
}

[[nodiscard]] std::optional<WeightedMean> mean_in(const Expr& e) {
  if (!e.is(Primitive::add) || e.kind() != Kind::real) return std::nullopt;
  if (auto found = match(e->args[0], e->args[1])) return found;
  return match(e->args[1], e->args[0]);
}

}  // namespace

std::optional<spec::System> from_the_first(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    const auto mean = mean_in(e);
    if (!mean) return std::nullopt;
    return mean->first + mean->rest_of_weight * (mean->second - mean->first);
  });
}

std::optional<spec::System> from_the_second(const spec::System& system) {
  return rewritten_by(system, [](const Expr& e) -> std::optional<Expr> {
    const auto mean = mean_in(e);
    if (!mean) return std::nullopt;
    return mean->second + mean->weight * (mean->first - mean->second);
  });
}

}  // namespace etalon::conformance
