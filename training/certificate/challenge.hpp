/// \file
/// Which intervals of a run an auditor computes again, and what that finds. It runs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace etalon::training {

/// What a challenge is drawn from. It has to be the auditor's own, and new: who trains could choose what to forge where
/// the challenge followed from the run.
class Nonce {
 public:
  static constexpr std::size_t size = 32;
  /// From the system's source of randomness. \throws InternalError where OpenSSL has none
  static Nonce fresh();
  /// \throws SpecViolation for anything but 64 hexadecimal digits
  static Nonce of(const std::string& hexadecimal);

  [[nodiscard]] std::string hexadecimal() const;
  /// `count` different numbers below `intervals`, ascending, each set of them as likely as any other.
  /// \throws SpecViolation for fewer than one, or more than there are
  [[nodiscard]] std::vector<std::int64_t> challenge(std::int64_t intervals, std::int64_t count) const;

 private:
  std::array<std::byte, size> bytes_{};
};

/// The chance that of `forged` intervals among `intervals` at least one is among `asked`: 1 - C(n-f, k) / C(n, k).
[[nodiscard]] double chance_of_finding(std::int64_t intervals, std::int64_t forged, std::int64_t asked);

}  // namespace etalon::training
