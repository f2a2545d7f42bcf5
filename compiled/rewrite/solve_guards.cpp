#include <utility>
#include <vector>

#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/rewriting.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::compiled {

void solve_guards(spec::System& system) {
  const std::vector<spec::Equation> before = system.equations;
  spec::solve_guards(system, [&](const spec::Equation& equation, const spec::Expr& unsolved, const spec::Expr& solved) {
    return is_typeless(solved) || keeps_types(system, equation, unsolved, solved);
  });
  for (std::size_t i = 0; i < before.size(); ++i) {
    spec::Expr solved = std::exchange(system.equations[i].value, before[i].value);
    replace_value(system, system.equations[i], std::move(solved));
  }
}

}  // namespace etalon::compiled
