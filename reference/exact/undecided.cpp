#include "reference/exact/undecided.hpp"

namespace etalon::reference {

std::string place_of(const Dims& dims, std::size_t position) {
  std::string text;
  auto rest = static_cast<std::int64_t>(position);
  for (std::int64_t axis = dims.rank - 1; axis >= 0; --axis) {
    const std::int64_t extent = dims.extent[axis];
    text = std::to_string(rest % extent) + (text.empty() ? "" : ", ") + text;
    rest /= extent;
  }
  return "[" + text + "]";
}

}  // namespace etalon::reference
