#include "compiled/ir/uses.hpp"

#include "compiled/ir/language.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::compiled {

std::vector<bool> recurrent_equations(const spec::System& system) {
  std::vector<bool> recurrent(system.equations.size());
  for (const auto& group : spec::recurrent_groups(system)) {
    for (const std::size_t i : group) recurrent[i] = true;
  }
  return recurrent;
}

Uses uses_of(const spec::System& system) {
  const std::size_t n = system.tensors.size();
  Uses uses{std::vector<std::size_t>(n), std::vector<std::vector<std::size_t>>(n), std::vector<std::size_t>(n), std::vector<std::size_t>(n),
            std::vector<bool>(n),        std::vector<bool>(n),                     std::vector<bool>(n)};
  for (const spec::TensorId t : system.inputs) uses.is_input[static_cast<std::size_t>(t)] = true;
  for (const spec::TensorId t : system.outputs) uses.is_output[static_cast<std::size_t>(t)] = true;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    const spec::Equation& equation = system.equations[i];
    const auto target = static_cast<std::size_t>(equation.target);
    ++uses.writers[target];
    uses.equation[target] = i;
    for_each_read(equation, [&](const Expr& e) {
      ++uses.reads[static_cast<std::size_t>(e->tensor)];
      std::vector<std::size_t>& readers = uses.readers[static_cast<std::size_t>(e->tensor)];
      if (readers.empty() || readers.back() != i) readers.push_back(i);
    });
  }
  for (const auto& group : spec::recurrent_groups(system)) {
    for (const std::size_t i : group) uses.recurrent[static_cast<std::size_t>(system.equations[i].target)] = true;
  }
  return uses;
}

}  // namespace etalon::compiled
