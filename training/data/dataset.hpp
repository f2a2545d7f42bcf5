/// \file
/// Labelled examples in memory and where they come from. It knows nothing of models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::training {

/// Examples as rows: `inputs` holds rows × features numbers, `labels` one class per row.
struct Dataset {
  std::int64_t features = 0;
  std::int64_t classes = 0;
  std::vector<float> inputs;
  std::vector<std::int64_t> labels;

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
};

/// The rows of `from` at these positions, in this order.
[[nodiscard]] Dataset select_rows(const Dataset& from, const std::vector<std::int64_t>& positions);

struct Split {
  Dataset train;
  Dataset test;
};

/// The handwritten digits: 8×8 pixels scaled to [0, 1], labels 0..9.
/// \throws IoError naming the file when it is missing, not gzip, truncated, or holds a malformed line (with its number).
[[nodiscard]] Dataset read_digits(const std::filesystem::path& file);

/// The lines of the digits. `where` stands in messages. \throws IoError
[[nodiscard]] Dataset digits_of(std::string_view lines, const std::string& where);

/// The fixed split of the digits: 1437 rows to train on and 360 to test with, after a permutation with seed 7.
[[nodiscard]] Split split_digits(const Dataset& digits);

/// Two interleaved half circles with 2 · `per_class` points, classes alternating row by row (labels 0 and 1), each
/// coordinate moved by a uniform draw from [-noise, noise).
[[nodiscard]] Dataset half_moons(std::int64_t per_class, double noise, std::uint64_t seed);

}  // namespace etalon::training
