/// \file
/// Calls that were elaborated lately. Drawing, typing and lowering ask for the same ones again and again.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>

#include "spec/notation/elaborate.hpp"

namespace etalon::spec::notation {

/// All that an instance follows from, as bytes: the texts of the definition and of what it calls, its part, and the call. Texts and
/// not addresses, since definitions of a user come and go; the bits of numbers, since -0 is not 0.
[[nodiscard]] std::string key_of(const Definition& definition, std::size_t part, std::span<const std::optional<ValueType>> operands,
                                 std::span<const std::size_t> packs, const Attributes& attributes);

/// Instances by such keys: at least the last so many that were kept or found, at most twice as many. For one thread.
class LatelyInstantiated {
 public:
  /// What was kept under the key, or nullptr. It lives until something else is kept or found.
  [[nodiscard]] const Instance* find(const std::string& key);
  void keep(std::string key, const Instance& instance);

  static constexpr std::size_t at_least = 64;

 private:
  void make_room();

  std::unordered_map<std::string, Instance> recent_, older_;
};

}  // namespace etalon::spec::notation
