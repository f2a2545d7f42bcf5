/// \file
/// The distance between two names, at compile time too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace etalon::spec::notation {

/// Single-character edits that turn `a` into `b`; names beyond 31 characters count as far apart.
[[nodiscard]] constexpr std::size_t edits(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 31;
  if (a.size() > longest || b.size() > longest) return a == b ? 0 : longest;
  std::size_t row[longest + 1] = {};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace etalon::spec::notation
