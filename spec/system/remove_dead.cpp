#include <algorithm>

#include "spec/system/simplify.hpp"

namespace etalon::spec {

void remove_dead(System& system) {
  std::vector<bool> needed(system.tensors.size(), false);
  for (const TensorId t : system.outputs) needed[static_cast<std::size_t>(t)] = true;
  std::vector<Equation> kept;
  const auto mark = [&](const Expr& e) {
    if (e.form() == Form::read) needed[static_cast<std::size_t>(e->tensor)] = true;
  };
  for (std::size_t i = system.equations.size(); i-- > 0;) {
    Equation& e = system.equations[i];
    if (!needed[static_cast<std::size_t>(e.target)]) continue;
    for_each(e.value, mark);
    for (const Expr& p : e.place) for_each(p, mark);
    kept.push_back(std::move(e));
  }
  std::reverse(kept.begin(), kept.end());
  system.equations = std::move(kept);
}

}  // namespace etalon::spec
