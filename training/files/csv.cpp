#include "training/files/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF", blanks = " \t";

[[nodiscard]] std::string_view without_blanks(std::string_view field) {
  const std::size_t begin = field.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : field.substr(begin, field.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace

CsvReader::CsvReader(std::string_view text, char separator, std::string where)
    : rest_(text), separator_(separator), where_(std::move(where)) {
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

std::string CsvReader::place() const { return fmt::format("{}:{}", where_, begun_); }

bool CsvReader::takes_line_end() {
  const std::size_t size = rest_.starts_with("\r\n") ? 2 : rest_.starts_with('\n') ? 1 : 0;
  rest_.remove_prefix(size);
  line_ += size > 0 ? 1 : 0;
  return size > 0;
}

std::string CsvReader::quoted() {
  std::string field;
  rest_.remove_prefix(1);
  for (;;) {
    const std::size_t end = rest_.find('"');
    if (end == std::string_view::npos) throw IoError(fmt::format("{}: a quote that does not end", place()));
    field += rest_.substr(0, end);
    line_ += static_cast<std::size_t>(std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    rest_.remove_prefix(end + 1);
    if (!rest_.starts_with('"')) return field;
    field += '"';
    rest_.remove_prefix(1);
  }
}

std::string CsvReader::plain() {
  const std::array ends{separator_, '\n'};
  const std::size_t end = std::min(rest_.size(), rest_.find_first_of(std::string_view(ends.data(), ends.size())));
  std::string_view field = rest_.substr(0, end);
  const bool is_last = end == rest_.size() || rest_[end] == '\n';
  // What belongs to the line's end stays for it.
  if (is_last && field.ends_with('\r')) field.remove_suffix(1);
  rest_.remove_prefix(field.size());
  if (end == field.size() + 1 && rest_.size() == 1) rest_.remove_prefix(1);  // CR at the end of the file
  return std::string(without_blanks(field));
}

bool CsvReader::next(std::vector<std::string>& fields) {
  fields.clear();
  while (takes_line_end()) {
  }
  if (rest_.empty()) return false;
  begun_ = line_;
  for (;;) {
    fields.push_back(rest_.starts_with('"') ? quoted() : plain());
    if (rest_.empty() || takes_line_end()) return true;
    if (!rest_.starts_with(separator_)) {
      throw IoError(fmt::format("{}: '{}' behind the quote of column {}, expected the separator or the line's end", place(),
                                as_quoted(first_character(rest_)), fields.size()));
    }
    rest_.remove_prefix(1);
  }
}

}  // namespace etalon::training
