#include "spec/derivative/literal.hpp"

#include "spec/system/naming.hpp"
#include "spec/system/recurrence.hpp"
#include "spec/system/solve.hpp"

namespace etalon::spec {

std::size_t name_for_derivative(System& system) {
  name_reductions(system, 0, Naming::nonlinear);
  order_equations(system);
  return system.equations.size();
}

void simplify_derivative(System& system, std::size_t first) {
  name_reductions(system, first, Naming::nested);
  solve_guards(system, first);
  order_equations(system);
}

}  // namespace etalon::spec
