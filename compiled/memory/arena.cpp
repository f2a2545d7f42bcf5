#include "compiled/memory/arena.hpp"

#include <iterator>

namespace etalon::compiled {

void Arena::insert(std::size_t offset, std::size_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_bytes_.emplace(bytes, offset);
}

void Arena::erase(std::map<std::size_t, std::size_t>::iterator block) {
  by_bytes_.erase({block->second, block->first});
  by_offset_.erase(block);
}

std::size_t Arena::take(std::size_t bytes) {
  if (bytes == 0) return 0;
  const std::size_t wanted = padded(bytes);
  const auto fit = by_bytes_.lower_bound({wanted, 0});
  if (fit != by_bytes_.end()) {
    const auto [found, offset] = *fit;
    erase(by_offset_.find(offset));
    if (found > wanted) insert(offset + wanted, found - wanted);
    return offset;
  }
  // A free block at the end grows instead of leaving a hole.
  std::size_t offset = size_;
  if (!by_offset_.empty()) {
    const auto last = std::prev(by_offset_.end());
    if (last->first + last->second == size_) {
      offset = last->first;
      erase(last);
    }
  }
  size_ = offset + wanted;
  return offset;
}

void Arena::give_back(std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return;
  std::size_t size = padded(bytes);
  const auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end() && next->first == offset + size) {
    size += next->second;
    erase(next);
  }
  const auto after = by_offset_.lower_bound(offset);
  if (after != by_offset_.begin()) {
    const auto previous = std::prev(after);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      size += previous->second;
      erase(previous);
    }
  }
  insert(offset, size);
}

}  // namespace etalon::compiled
