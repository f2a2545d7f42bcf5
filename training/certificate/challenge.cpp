#include "training/certificate/challenge.hpp"

#include <fmt/format.h>
#include <openssl/rand.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "spec/error.hpp"
#include "spec/sha256.hpp"

namespace etalon::training {
namespace {

/// Numbers of 64 bits, the n-th the first eight bytes of the SHA-256 of nonce and n.
class Numbers {
 public:
  explicit Numbers(std::span<const std::byte> nonce) : nonce_(nonce) {}

  /// Below `end`, each as likely as any other: what would make the small ones likelier is drawn again.
  std::uint64_t below(std::uint64_t end) {
    const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t fair = largest - largest % end;
    std::uint64_t number = next();
    while (number >= fair) number = next();
    return number % end;
  }

 private:
  std::uint64_t next() {
    const Sha256::Digest digest = Sha256().add(nonce_).add(fmt::format(" {}", drawn_++)).digest();
    return std::accumulate(digest.begin(), digest.begin() + 8, std::uint64_t{0},
                           [](std::uint64_t n, std::byte b) { return n << 8U | std::to_integer<std::uint64_t>(b); });
  }

  std::span<const std::byte> nonce_;
  std::uint64_t drawn_ = 0;
};

std::byte digit(char c) { return static_cast<std::byte>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

Nonce Nonce::fresh() {
  Nonce nonce;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.bytes_.data()), static_cast<int>(size)) != 1) {
    throw InternalError("OpenSSL has no randomness");
  }
  return nonce;
}

Nonce Nonce::of(const std::string& hexadecimal) {
  if (hexadecimal.size() != 2 * size || hexadecimal.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw SpecViolation(fmt::format("nonce: {} characters, expected 64 lower-case hexadecimal digits", hexadecimal.size()));
  }
  Nonce nonce;
  for (std::size_t i = 0; i < size; ++i) nonce.bytes_[i] = digit(hexadecimal[2 * i]) << 4 | digit(hexadecimal[2 * i + 1]);
  return nonce;
}

std::string Nonce::hexadecimal() const { return etalon::hexadecimal(bytes_); }

std::vector<std::int64_t> Nonce::challenge(std::int64_t intervals, std::int64_t count) const {
  if (count < 1 || count > intervals) throw SpecViolation(fmt::format("audit: {} intervals, expected 1 to {}", count, intervals));
  // The first `count` places of a shuffle.
  std::vector<std::int64_t> all(static_cast<std::size_t>(intervals));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  Numbers numbers(bytes_);
  const auto chosen = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < chosen; ++i) std::swap(all[i], all[i + numbers.below(all.size() - i)]);
  all.resize(chosen);
  std::sort(all.begin(), all.end());
  return all;
}

double chance_of_finding(std::int64_t intervals, std::int64_t forged, std::int64_t asked) {
  double missed = 1;
  for (std::int64_t i = 0; i < asked; ++i) {
    missed *= static_cast<double>(std::max<std::int64_t>(0, intervals - forged - i)) / static_cast<double>(intervals - i);
  }
  return 1 - missed;
}

}  // namespace etalon::training
