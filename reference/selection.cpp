#include "reference/selection.hpp"

#include <algorithm>

namespace etalon::reference {

Selection everything(const spec::System& system) {
  Selection all;
  for (const spec::TensorId t : system.outputs) all.emplace_back(static_cast<std::size_t>(system[t].dims.count()), true);
  return all;
}

bool all_of(const Selection& selection) {
  return std::all_of(selection.begin(), selection.end(), [](const std::vector<bool>& elements) {
    return std::find(elements.begin(), elements.end(), false) == elements.end();
  });
}

bool any_of(const Selection& selection) {
  return std::any_of(selection.begin(), selection.end(), [](const std::vector<bool>& elements) {
    return std::find(elements.begin(), elements.end(), true) != elements.end();
  });
}

}  // namespace etalon::reference
