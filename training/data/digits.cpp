#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "training/data/dataset.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

constexpr std::int64_t digit_pixels = 64;
constexpr std::int64_t digit_rows = 1797;
constexpr std::int64_t digit_training_rows = 1437;
constexpr std::uint64_t digit_split_seed = 7;
constexpr int brightest_pixel = 16;
constexpr std::size_t longest_text = digit_rows * (3 * digit_pixels + 4);  // two digits and a comma per pixel, a label, an end

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

std::string read_gzip(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw IoError(fmt::format("{}: a folder, expected a file", path.string()));
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) throw file_error(path, "the file cannot be read", errno);
  std::string text;
  std::array<char, 1U << 16U> chunk{};
  int got = 0;
  while (text.size() <= longest_text && (got = gzread(file.get(), chunk.data(), chunk.size())) > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
  if (text.size() > longest_text) throw IoError(fmt::format("{}: longer than {} bytes", path.string(), longest_text));
  int code = Z_OK;
  const char* message = gzerror(file.get(), &code);
  if (got < 0 || code != Z_OK) {
    throw IoError(fmt::format("{}: damaged or truncated after {} bytes ({})", path.string(), text.size(),
                              code == Z_BUF_ERROR ? "unexpected end of file" : message));
  }
  return text;
}

void append_row(Dataset& data, std::string_view line, const std::string& where) {
  for (std::int64_t column = 0; column <= digit_pixels; ++column) {
    const std::size_t comma = line.find(',');
    const std::string_view field = line.substr(0, comma);
    int value = -1;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    const int most = column == digit_pixels ? 9 : brightest_pixel;
    if (error != std::errc{} || end != field.data() + field.size() || value < 0 || value > most) {
      throw IoError(fmt::format("{}: column {} is '{}', expected a number from 0 to {}", where, column + 1, field, most));
    }
    if ((comma == std::string_view::npos) != (column == digit_pixels)) {
      throw IoError(fmt::format("{}: expected {} columns", where, digit_pixels + 1));
    }
    if (column < digit_pixels) {
      data.inputs.push_back(static_cast<float>(value) / static_cast<float>(brightest_pixel));
    } else {
      data.labels.push_back(value);
    }
    line.remove_prefix(std::min(line.size(), comma == std::string_view::npos ? line.size() : comma + 1));
  }
}

}  // namespace

Dataset digits_of(std::string_view lines, const std::string& where) {
  Dataset data;
  data.features = digit_pixels;
  data.classes = 10;
  std::string_view rest = lines;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    append_row(data, line, fmt::format("{}:{}", where, number));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  if (data.rows() != digit_rows) {
    throw IoError(fmt::format("{}: truncated: {} rows, expected {}", where, data.rows(), digit_rows));
  }
  return data;
}

Dataset read_digits(const std::filesystem::path& file) { return digits_of(read_gzip(file), file.string()); }

Dataset select_rows(const Dataset& from, const std::vector<std::int64_t>& positions) {
  Dataset out;
  out.features = from.features;
  out.classes = from.classes;
  for (const std::int64_t row : positions) {
    const auto first = from.inputs.begin() + row * from.features;
    out.inputs.insert(out.inputs.end(), first, first + from.features);
    out.labels.push_back(from.labels[static_cast<std::size_t>(row)]);
  }
  return out;
}

Split split_digits(const Dataset& digits) {
  const auto order = permutation(digits.rows(), digit_split_seed, 0, Stream::split);
  const auto middle = order.begin() + digit_training_rows;
  return {select_rows(digits, {order.begin(), middle}), select_rows(digits, {middle, order.end()})};
}

}  // namespace etalon::training
