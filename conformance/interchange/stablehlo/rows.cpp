#include "conformance/interchange/stablehlo/rows.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace etalon::conformance::stablehlo {
namespace {

/// Why instructions whose names begin so are not offered.
struct Unoffered {
  std::string_view begin, why;
};

constexpr std::string_view collective = "what several devices do together is not offered",
                           control = "control flow is not offered",
                           dynamic = "extents that are not known are not offered",
                           complex = "complex numbers are not offered", bits = "the bits of numbers are not offered",
                           drawn = "StableHLO does not say which numbers are drawn",
                           quantised = "quantised types are not offered",
                           outside = "what stands outside of the module is not offered";
constexpr Unoffered unoffered[] = {
    {"after_all", outside},
    {"all_", collective},
    {"bitcast_convert", bits},
    {"case", control},
    {"collective_", collective},
    {"complex", complex},
    {"count_leading", bits},
    {"cross_replica", collective},
    {"custom_call", outside},
    {"dynamic_broadcast", dynamic},
    {"dynamic_conv", dynamic},
    {"dynamic_gather", dynamic},
    {"dynamic_iota", dynamic},
    {"dynamic_pad", dynamic},
    {"dynamic_reshape", dynamic},
    {"fft", "transforms are not offered"},
    {"if", control},
    {"imag", complex},
    {"infeed", outside},
    {"outfeed", outside},
    {"partition_id", collective},
    {"popcnt", bits},
    {"real_dynamic", dynamic},
    {"real", complex},
    {"recv", collective},
    {"reduce_scatter", collective},
    {"replica_id", collective},
    {"rng", drawn},
    {"send", collective},
    {"shift_", bits},
    {"sort", "sorting is not offered"},
    {"uniform_", quantised},
    {"while", control},
};

[[nodiscard]] std::array<std::span<const Row>, 6> families() {
  return {elementwise_rows(), shape_rows(), contraction_rows(), window_rows(), indexing_rows(), normalisation_rows()};
}

constexpr std::string_view dialect = "stablehlo.";

}  // namespace

const Row* find_row(std::string_view name) {
  const std::string_view instruction = name.starts_with(dialect) ? name.substr(dialect.size()) : name;
  if (instruction.size() == name.size() && !name.starts_with("chlo.")) return nullptr;
  for (const auto& rows : families()) {
    const auto at =
        std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.instruction == instruction; });
    if (at != rows.end()) return &*at;
  }
  return nullptr;
}

std::string_view why_not(std::string_view name) {
  if (name.starts_with("chlo.")) return "it has no counterpart in the library";
  if (!name.starts_with(dialect)) return "it is no instruction of StableHLO";
  const auto begins = [&](const Unoffered& kind) { return name.substr(dialect.size()).starts_with(kind.begin); };
  const auto at = std::find_if(std::begin(unoffered), std::end(unoffered), begins);
  return at == std::end(unoffered) ? "it has no counterpart in the library" : at->why;
}

}  // namespace etalon::conformance::stablehlo
