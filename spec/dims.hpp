/// \file
/// The extents of a tensor as a value that also works at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace etalon {

/// Extents of a tensor, outermost first. Zero extents are legal; a scalar has rank 0.
struct Dims {
  static constexpr std::size_t max_rank = 8;

  std::int64_t extent[max_rank] = {};
  std::size_t rank = 0;

  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> extents) {
    for (const std::int64_t e : extents) push_back(e);
  }

  [[nodiscard]] constexpr std::int64_t operator[](std::size_t axis) const { return extent[axis]; }
  [[nodiscard]] constexpr std::int64_t& operator[](std::size_t axis) { return extent[axis]; }
  [[nodiscard]] constexpr const std::int64_t* begin() const { return extent; }
  [[nodiscard]] constexpr const std::int64_t* end() const { return extent + rank; }

  /// Appends an innermost axis. \throws std::length_error beyond max_rank.
  constexpr void push_back(std::int64_t e) {
    if (rank == max_rank) throw std::length_error("a tensor has at most 8 axes");
    extent[rank++] = e;
  }

  /// Number of elements: the product of the extents, 1 for a scalar.
  [[nodiscard]] constexpr std::int64_t count() const {
    std::int64_t n = 1;
    for (std::size_t i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }

  [[nodiscard]] friend constexpr bool operator==(const Dims& a, const Dims& b) {
    if (a.rank != b.rank) return false;
    for (std::size_t i = 0; i < a.rank; ++i) {
      if (a.extent[i] != b.extent[i]) return false;
    }
    return true;
  }
};

/// The text form `[2, 3]`.
[[nodiscard]] std::string to_string(const Dims& dims);

}  // namespace etalon
