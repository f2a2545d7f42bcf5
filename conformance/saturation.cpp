#include "conformance/saturation.hpp"

#include <algorithm>

namespace etalon::conformance {
namespace {

using spec::Expr;
using spec::Form;
using spec::Primitive;

bool levels_off(const Expr& e) {
  return e.is(Primitive::exp) || e.is(Primitive::expm1) || e.is(Primitive::tanh) || e.is(Primitive::erf);
}

bool reads_reals(const spec::System& system, const Expr& e) {
  bool found = false;
  spec::for_each(e, [&](const Expr& x) {
    found = found || (x.form() == Form::read && kind_of(system[x->tensor].dtype) == Kind::real);
  });
  return found;
}

/// Whether the value contains a product of reals that are read, or reads a tensor that does.
bool has_product(const spec::System& system, const std::vector<bool>& product, const Expr& e) {
  bool found = false;
  spec::for_each(e, [&](const Expr& x) {
    if (x.form() == Form::read) found = found || product[static_cast<std::size_t>(x->tensor)];
    if (x.is(Primitive::mul)) found = found || (reads_reals(system, x->args[0]) && reads_reals(system, x->args[1]));
  });
  return found;
}

bool is_wide(Family family) {
  using enum Family;
  switch (family) {
    case lattice:
    case odd:
    case large:
    case logits:
    case cancelling:
    case offset:
    case mixed: return true;
    default: return false;
  }
}

}  // namespace

bool saturates(const spec::System& system) {
  std::vector<bool> product(system.tensors.size(), false);
  bool found = false;
  for (const spec::Equation& equation : system.equations) {
    spec::for_each(equation.value, [&](const Expr& x) {
      found = found || (levels_off(x) && has_product(system, product, x->args[0]));
    });
    const auto target = static_cast<std::size_t>(equation.target);
    product[target] = product[target] || has_product(system, product, equation.value);
  }
  return found;
}

void temper(std::vector<Family>& families, Draw& draw) {
  if (families.size() < 2 || draw.chance(0.1)) return;
  const auto kept = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(families.size()) - 1));
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (i != kept && is_wide(families[i])) families[i] = Family::narrow;
  }
}

}  // namespace etalon::conformance
