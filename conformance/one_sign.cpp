#include "conformance/one_sign.hpp"

#include <cmath>

#include "conformance/values.hpp"

namespace etalon::conformance {

std::optional<double> sign_beyond_zero(const spec::System& system, std::uint64_t turn) {
  using enum spec::Reduction;
  bool largest = false, smallest = false;
  for (const spec::Equation& equation : system.equations) {
    spec::for_each(equation.value, [&](const spec::Expr& e) {
      if (e.form() != spec::Form::reduce) return;
      largest = largest || e->reduction == max || e->reduction == argmax;
      smallest = smallest || e->reduction == min || e->reduction == argmin;
    });
  }
  if (!largest && !smallest) return std::nullopt;
  const bool below = largest && smallest ? turn % 2 == 0 : largest;
  return below ? -1.0 : 1.0;
}

void keep_one_sign(std::vector<std::optional<HostTensor>>& tensors, double sign) {
  for (auto& t : tensors) {
    if (!t || kind_of(t->dtype) != Kind::real) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) {
      const double x = element(*t, i);
      if (!std::isnan(x)) set_element(*t, i, std::copysign(x, sign));
    }
  }
}

}  // namespace etalon::conformance
