#include <vector>

#include "spec/system/simplify.hpp"

namespace etalon::spec {

void remove_dead(System& system) {
  std::vector<bool> needed(system.tensors.size(), false);
  for (const TensorId t : system.outputs) needed[static_cast<std::size_t>(t)] = true;
  std::vector<bool> kept(system.equations.size(), false);
  bool changed = true;
  const auto mark = [&](const Expr& e) {
    if (e.form() == Form::read) needed[static_cast<std::size_t>(e->tensor)] = true;
  };
  while (changed) {  // an equation of a recurrence may be needed by one before it
    changed = false;
    for (std::size_t i = system.equations.size(); i-- > 0;) {
      const Equation& e = system.equations[i];
      if (kept[i] || !needed[static_cast<std::size_t>(e.target)]) continue;
      for_each(e.value, mark);
      for (const Expr& p : e.place) for_each(p, mark);
      kept[i] = changed = true;
    }
  }
  std::size_t next = 0;
  std::erase_if(system.equations, [&](const Equation&) { return !kept[next++]; });
}

}  // namespace etalon::spec
