/// \file
/// Identifiers for the user's names: legal in C and in CUDA C++, and each one taken once.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace etalon::compiled::source {

/// What the functions that come with a text begin with; no identifier of a user's does.
inline constexpr std::string_view own_prefix = "et_";

/// A scope of identifiers.
class Names {
 public:
  /// A scope in which only the languages' own words are taken.
  Names();

  /// An identifier like `wanted` that nobody has yet: other characters than letters, digits and `_` become `_`, and a number
  /// follows where it is taken.
  [[nodiscard]] std::string claim(std::string_view wanted);

 private:
  std::set<std::string, std::less<>> taken_;
};

}  // namespace etalon::compiled::source
