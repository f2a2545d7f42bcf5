/// \file
/// Text that is put together at compile time and at run time alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace etalon::spec::einsum_notation {

/// A text of bounded length; what does not fit is left out, and `full` says so.
template <std::size_t capacity>
struct BoundedText {
  char characters[capacity] = {};
  std::size_t size = 0;
  bool full = false;

  [[nodiscard]] constexpr std::string_view view() const { return {characters, size}; }
  [[nodiscard]] constexpr bool empty() const { return size == 0; }

  constexpr BoundedText& add(std::string_view part) {
    for (const char c : part) {
      full = full || size == capacity;
      if (!full) characters[size++] = c;
    }
    return *this;
  }
  constexpr BoundedText& add(std::int64_t number) {
    char digits[20] = {};
    std::size_t n = 0;
    for (; number > 0 || n == 0; number /= 10) digits[n++] = static_cast<char>('0' + number % 10);
    while (n > 0) {
      const char c = digits[--n];
      add(std::string_view(&c, 1));
    }
    return *this;
  }
};

using Text = BoundedText<8000>;  ///< a definition
using Name = BoundedText<96>;

/// Several parts, one after the other.
template <std::size_t capacity, class... Parts>
constexpr void add_all(BoundedText<capacity>& text, const Parts&... parts) {
  (text.add(parts), ...);
}

}  // namespace etalon::spec::einsum_notation
