#include "tools/bench/quantity_text.hpp"

#include <fmt/format.h>

namespace etalon::bench {
namespace {

/// Three digits, two below 1.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  if (value >= 0.0995) return fmt::format("{:.2f}", value);
  return fmt::format("{:#.2g}", value);
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 999.5e-9) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string memory_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
}

std::string ratio_text(double ratio) { return three_digits(ratio); }

}  // namespace etalon::bench
