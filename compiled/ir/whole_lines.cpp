#include "compiled/ir/whole_lines.hpp"

#include <algorithm>

#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled::loops {

bool may_stream(const spec::System& system, const Loop& lanes, const Store& store) {
  const auto bytes = static_cast<std::int64_t>(size_of(system[store.tensor].dtype));
  const std::int64_t vector = lanes.width * bytes;
  if (store.add || store.guard.valid() || lanes.binder.extent % lanes.width != 0 || vector < threshold("least_streamed_bytes")) return false;
  const Affine number = element_number(store.place, system[store.tensor].dims);
  if (!number.opaque.empty() || number.coefficient(lanes.binder.variable) != 1 || number.constant * bytes % threshold("line_bytes") != 0) return false;
  return std::all_of(number.variables.begin(), number.variables.end(), [&](const auto& term) {
    return term.first == lanes.binder.variable || term.second * bytes % threshold("line_bytes") == 0;
  });
}

}  // namespace etalon::compiled::loops
