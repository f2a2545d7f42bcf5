/// \file
/// The choices of an evaluator as a sequence that a search can change at single places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>

namespace etalon::bounds_test {

/// Random numbers from a seed, some of them replaced. Meets the standard's uniform random bit generator.
class Choices {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  explicit Choices(unsigned seed) : random_(seed) {}

  /// The number at this place of the sequence from now on, when drawn afresh.
  void replace(std::size_t place, result_type by) { replaced_[place] = by; }

  result_type operator()() {
    const auto drawn = static_cast<result_type>(random_());
    const auto found = replaced_.find(place_++);
    return found == replaced_.end() ? drawn : found->second;
  }

 private:
  std::mt19937 random_;
  std::map<std::size_t, result_type> replaced_;
  std::size_t place_ = 0;
};

}  // namespace etalon::bounds_test
