/// \file
/// Deterministic random choices: the same key gives the same choices on every machine. It knows nothing of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace rc {
class Random;
}

namespace etalon::conformance {

/// 64 bits of a text (FNV-1a).
[[nodiscard]] std::uint64_t hash_of(std::string_view text);

/// A stream of choices. Only exact arithmetic is used, so that no mathematical library can change a case.
class Draw {
 public:
  explicit Draw(std::uint64_t seed);
  explicit Draw(std::string_view key) : Draw(hash_of(key)) {}
  Draw(const Draw&) = delete;
  Draw& operator=(const Draw&) = delete;
  ~Draw();

  [[nodiscard]] std::uint64_t bits();
  /// Uniform in [low, high], both ends included.
  [[nodiscard]] std::int64_t integer(std::int64_t low, std::int64_t high);
  /// Uniform on the grid of 2^-53 in [0, 1).
  [[nodiscard]] double uniform();
  /// The sum of twelve uniform numbers less six: mean 0, variance 1.
  [[nodiscard]] double normal();
  [[nodiscard]] bool chance(double probability) { return uniform() < probability; }
  template <class T>
  [[nodiscard]] const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::unique_ptr<rc::Random> random_;
};

}  // namespace etalon::conformance
