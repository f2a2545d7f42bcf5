/// \file
/// Examples in memory and where they come from. It knows nothing of models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::training {

/// Examples as rows: `inputs` holds rows × features numbers, and each row has labels, mostly one, or one number to be met.
struct Dataset {
  std::int64_t features = 0;
  std::int64_t classes = 0;              ///< of labels
  std::vector<float> inputs;
  std::vector<std::int64_t> labels = {};  ///< `per_row` classes of 0..classes-1 for each row
  std::vector<float> numbers = {};        ///< instead of labels
  std::int64_t per_row = 1;               ///< labels of a row: a text has one for each character

  [[nodiscard]] std::int64_t rows() const {
    return labels.empty() ? static_cast<std::int64_t>(numbers.size()) : static_cast<std::int64_t>(labels.size()) / per_row;
  }
};

/// Takes data in. \param name stands in messages
/// \throws SpecViolation naming row and column, what was expected and found: an input or number that is not finite, a
/// label that is no class, sizes that do not belong together.
void require_sound(const Dataset& data, std::string_view name);

/// The rows of `from` at these positions, in this order. \throws SpecViolation for a position that is no row, or sizes that
/// do not belong together.
[[nodiscard]] Dataset select_rows(const Dataset& from, const std::vector<std::int64_t>& positions);

/// Which rows are for what. No row is in two of them.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;  ///< nothing is learned from them; they say how well it goes while it trains
  std::vector<std::int64_t> test;        ///< nobody looks at them before training has ended
};

/// The handwritten digits: 8×8 pixels scaled to [0, 1], labels 0..9. The file may be compressed by gzip.
/// \throws IoError naming the file, with the system's reason when it cannot be read; and line, column, what was expected
/// and found when it does not hold 1797 lines of 64 pixels and a class.
[[nodiscard]] Dataset read_digits(const std::filesystem::path& file);

/// The same of the file's bytes, which are at hand. `where` stands in messages.
[[nodiscard]] Dataset digits_in(std::string_view file, const std::string& where);

/// The lines of the digits. `where` stands in messages. \throws IoError
[[nodiscard]] Dataset digits_of(std::string_view lines, const std::string& where);

/// The fixed split of the digits, after a permutation with seed 7: 1280 rows to train on, 157 to validate and 360 to test
/// with.
[[nodiscard]] Split split_of_digits();

/// Two interleaved half circles with 2 · `per_class` points, classes alternating row by row (labels 0 and 1), each
/// coordinate moved by a uniform draw from [-noise, noise).
[[nodiscard]] Dataset half_moons(std::int64_t per_class, double noise, std::uint64_t seed);

}  // namespace etalon::training
