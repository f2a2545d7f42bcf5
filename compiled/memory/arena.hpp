/// \file
/// Addresses for blocks whose lives are known in advance: best fit among what was given back. It touches no memory.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace etalon::compiled {

class Arena {
 public:
  explicit Arena(std::size_t alignment) : alignment_(alignment) {}

  /// Offset of a free block of that many bytes, aligned. Zero bytes take nothing.
  [[nodiscard]] std::size_t take(std::size_t bytes);
  /// Frees what `take` gave for that many bytes.
  void give_back(std::size_t offset, std::size_t bytes);
  /// One past the highest byte that was ever in use.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  [[nodiscard]] std::size_t padded(std::size_t bytes) const {
    return (bytes + alignment_ - 1) / alignment_ * alignment_;
  }
  void insert(std::size_t offset, std::size_t bytes);
  void erase(std::map<std::size_t, std::size_t>::iterator block);

  std::size_t alignment_;
  std::size_t size_ = 0;
  std::map<std::size_t, std::size_t> by_offset_;            ///< free blocks: offset to bytes
  std::set<std::pair<std::size_t, std::size_t>> by_bytes_;  ///< the same: bytes, offset
};

}  // namespace etalon::compiled
