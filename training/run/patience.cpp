#include "training/run/patience.hpp"

#include <algorithm>

namespace etalon::training {

std::int64_t best_epoch(std::span<const double> losses) {
  if (losses.empty()) return 0;
  return std::min_element(losses.begin(), losses.end()) - losses.begin() + 1;
}

bool is_out_of_patience(std::span<const double> losses, std::int64_t patience) {
  return patience > 0 && static_cast<std::int64_t>(losses.size()) - best_epoch(losses) >= patience;
}

}  // namespace etalon::training
