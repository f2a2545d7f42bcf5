#include "training/data/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t most_classes = 65'536;
constexpr double most_whole = 9'007'199'254'740'992;  // 2^53: beyond it not every whole number is a double

/// Reads all of the word. \returns what `from_chars` does; a number that rounds to 0 is out of range, too, and then not read
template <class Number>
[[nodiscard]] std::errc read_word(std::string_view word, Number& number) {
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return stop == end ? error : std::errc::invalid_argument;
}

[[nodiscard]] std::optional<std::int64_t> integer_in(std::string_view word) {
  std::int64_t number = 0;
  return read_word(word, number) == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The double that a word rounds to; one that is out of range is no number that is whole.
[[nodiscard]] std::optional<double> double_in(std::string_view word) {
  double number = 0;
  const std::errc error = read_word(word, number);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<double>::quiet_NaN();
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

[[nodiscard]] bool is_whole(double number) { return std::trunc(number) == number && std::abs(number) <= most_whole; }

}  // namespace

bool read_number(std::string_view word, float& number) {
  const std::errc error = read_word(word, number);
  if (error == std::errc{}) return std::isfinite(number);
  if (error != std::errc::result_out_of_range) return false;
  number = std::strtof(std::string(word).c_str(), nullptr);
  return std::abs(number) < std::numeric_limits<float>::min();
}

std::string Targets::take(std::string_view word) { return regression_ ? take_number(word) : take_class(word); }

std::string Targets::take_number(std::string_view word) {
  float number = 0;
  if (!read_number(word, number)) return "a finite number";
  numbers_.push_back(number);
  return {};
}

std::string Targets::take_class(std::string_view word) {
  if (word.empty()) return "a class";
  const std::optional<double> number = double_in(word);
  const bool whole = number && is_whole(*number);
  if (classes_ > 0 && (!whole || *number < 0 || *number >= static_cast<double>(classes_))) {
    return fmt::format("a whole number from 0 to {}", classes_ - 1);
  }
  if (number && !whole) return "a class; --regression learns numbers";
  const std::string name = whole ? fmt::format("{}", static_cast<std::int64_t>(*number)) : std::string(word);
  const auto at = names_.try_emplace(name, static_cast<std::int64_t>(names_.size())).first;
  if (names_.size() > most_classes) return fmt::format("one of {} classes at most; --regression learns numbers", most_classes);
  ids_.push_back(at->second);
  return {};
}

std::vector<std::string> Targets::finish(Dataset& data, std::string_view where) {
  if (regression_) {
    data.numbers = std::move(numbers_);
    return {};
  }
  std::vector<std::string> names;
  if (classes_ > 0) {
    for (std::int64_t c = 0; c < classes_; ++c) names.push_back(fmt::format("{}", c));
  } else {
    for (const auto& [name, id] : names_) names.push_back(name);
  }
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return integer_in(name).has_value(); })) {
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) { return integer_in(a) < integer_in(b); });
  }
  if (names.size() < 2) {
    throw IoError(fmt::format("{}: {} classes, expected at least 2; --regression learns numbers", where, names.size()));
  }
  std::vector<std::int64_t> label_of(names_.size());
  for (std::size_t label = 0; label < names.size(); ++label) {
    if (const auto at = names_.find(names[label]); at != names_.end()) {
      label_of[static_cast<std::size_t>(at->second)] = static_cast<std::int64_t>(label);
    }
  }
  for (const std::int64_t id : ids_) data.labels.push_back(label_of[static_cast<std::size_t>(id)]);
  data.classes = static_cast<std::int64_t>(names.size());
  return names;
}

}  // namespace etalon::training
