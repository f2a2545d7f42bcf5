/// \file
/// Whose bytes a stretch of memory holds while a plan is executed in thought.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// One stretch of memory: the arena, or one buffer of the caller's. It remembers whose bytes it holds.
class HeldBytes {
 public:
  /// Gives [begin, end) to `tensor`; whoever held any of it holds nothing any more.
  /// \returns those who lost theirs.
  std::vector<spec::TensorId> claim(spec::TensorId tensor, std::size_t begin, std::size_t end) {
    std::vector<spec::TensorId> losers;
    auto it = holders_.lower_bound(begin);
    if (it != holders_.begin() && std::prev(it)->second.end > begin) it = std::prev(it);
    while (it != holders_.end() && it->first < end) {
      losers.push_back(it->second.tensor);
      it = holders_.erase(it);
    }
    holders_.emplace(begin, Holder{end, tensor});
    return losers;
  }
  [[nodiscard]] bool holds(spec::TensorId tensor, std::size_t begin, std::size_t end) const {
    const auto it = holders_.find(begin);
    return it != holders_.end() && it->second.tensor == tensor && it->second.end == end;
  }

 private:
  struct Holder {
    std::size_t end;
    spec::TensorId tensor;
  };
  std::map<std::size_t, Holder> holders_;  ///< by first byte; disjoint
};

}  // namespace etalon::compiled
