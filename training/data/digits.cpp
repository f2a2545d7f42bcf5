#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "training/data/dataset.hpp"
#include "training/data/random_streams.hpp"
#include "training/files/gzip.hpp"

namespace etalon::training {

namespace {

constexpr std::int64_t digit_pixels = 64;
constexpr std::int64_t digit_columns = digit_pixels + 1;
constexpr std::int64_t digit_classes = 10;
constexpr std::int64_t digit_rows = 1797;
constexpr std::int64_t digit_training_rows = 1280;
constexpr std::int64_t digit_validation_rows = 157;
constexpr std::uint64_t digit_split_seed = 7;
constexpr int brightest_pixel = 16;
constexpr std::size_t longest_text = digit_rows * (3 * digit_pixels + 4);  // two digits and a comma per pixel, a label, an end

/// The whole number that a field is, or -1.
int whole_number_in(std::string_view field) {
  int value = -1;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc{} && end == field.data() + field.size() ? value : -1;
}

void append_row(Dataset& data, std::string_view line, const std::string& where) {
  const std::int64_t columns = 1 + std::count(line.begin(), line.end(), ',');
  if (columns != digit_columns) {
    throw IoError(fmt::format("{}: {} columns, expected {}", where, line.empty() ? 0 : columns, digit_columns));
  }
  for (std::int64_t column = 1; column <= digit_columns; ++column) {
    const std::string_view field = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    const bool is_class = column == digit_columns;
    const int value = whole_number_in(field);
    const int most = is_class ? digit_classes - 1 : brightest_pixel;
    if (value < 0 || value > most) {
      throw IoError(fmt::format("{}: column {}, the {}, is '{}', expected a whole number from 0 to {}", where, column,
                                is_class ? "class" : "brightness of a pixel", as_quoted(field), most));
    }
    if (is_class) data.labels.push_back(value);
    else data.inputs.push_back(static_cast<float>(value) / static_cast<float>(brightest_pixel));
  }
}

}  // namespace

Dataset digits_of(std::string_view lines, const std::string& where) {
  Dataset data{digit_pixels, digit_classes, {}};
  std::string_view rest = lines;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    append_row(data, line, fmt::format("{}:{}", where, number));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  if (lines.empty()) throw IoError(fmt::format("{}: the file is empty, expected {} rows of {} columns", where, digit_rows, digit_columns));
  if (data.rows() != digit_rows) throw IoError(fmt::format("{}: {} rows, expected {}", where, data.rows(), digit_rows));
  return data;
}

Dataset digits_in(std::string_view file, const std::string& where) {
  const auto bytes = std::as_bytes(std::span(file));
  return is_packed(bytes) ? digits_of(unpacked(bytes, longest_text, where), where) : digits_of(file, where);
}

Dataset read_digits(const std::filesystem::path& file) { return digits_in(read_file(file), file.string()); }

Split split_of_digits() {
  const auto order = permutation(digit_rows, digit_split_seed, 0, Stream::split);
  const auto validation = order.begin() + digit_training_rows, test = validation + digit_validation_rows;
  return {{order.begin(), validation}, {validation, test}, {test, order.end()}};
}

}  // namespace etalon::training
