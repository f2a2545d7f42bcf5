/// \file
/// What the names of a definition stand for in one call: extents and rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/dims.hpp"

namespace etalon::spec {

/// What a name of the definition stands for in one call: an extent or a row, per member where it belongs to a pack.
struct Entry {
  std::string_view name;
  std::int16_t member = -1;  ///< of a pack, or -1
  bool is_row = false;
  bool known = false;        ///< otherwise only the rank counts
  std::int8_t rank = -1;     ///< of a row, -1 while unknown
  Dims value;                ///< the row, or the extent as its only element
  std::string_view from;     ///< the operand that fixed it
};

/// The names of a call and their values.
struct Names {
  static constexpr std::size_t capacity = 96;
  Entry entries[capacity] = {};
  std::size_t count = 0;

  [[nodiscard]] constexpr const Entry* find(std::string_view name, int member = -1) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].name == name && entries[i].member == member) return &entries[i];
    }
    return nullptr;
  }
  [[nodiscard]] constexpr Entry* find(std::string_view name, int member = -1) {
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].name == name && entries[i].member == member) return &entries[i];
    }
    return nullptr;
  }
  /// The entry of that name, made if needed; nullptr when there are too many.
  [[nodiscard]] constexpr Entry* make(std::string_view name, int member, bool is_row) {
    if (Entry* e = find(name, member)) return e;
    if (count == capacity) return nullptr;
    Entry& e = entries[count++];
    e.name = name;
    e.member = static_cast<std::int16_t>(member);
    e.is_row = is_row;
    return &e;
  }
};

}  // namespace etalon::spec
