#include "conformance/draw.hpp"

#include <rapidcheck/Random.h>

namespace etalon::conformance {

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) {
    h ^= static_cast<unsigned char>(c);
    h *= 0x100000001b3u;
  }
  return h;
}

Draw::Draw(std::uint64_t seed) : random_(std::make_unique<rc::Random>(seed)) {}
Draw::~Draw() = default;

std::uint64_t Draw::bits() { return random_->next(); }

std::int64_t Draw::integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return range == 0 ? static_cast<std::int64_t>(bits())
                    : static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits() % range);
}

double Draw::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Draw::normal() {
  double total = -6;
  for (int i = 0; i < 12; ++i) total += uniform();
  return total;
}

}  // namespace etalon::conformance
