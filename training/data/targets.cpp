#include "training/data/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t most_classes = 65'536;
constexpr double most_whole = 9'007'199'254'740'992;  // 2^53: beyond it not every whole number is a double

template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view word) {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

[[nodiscard]] bool is_whole(double number) { return std::trunc(number) == number && std::abs(number) <= most_whole; }

}  // namespace

bool read_number(std::string_view word, float& number) {
  const std::optional<float> read = number_in<float>(word);
  number = read.value_or(0);
  return read && std::isfinite(number);
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
  const std::optional<double> number = number_in<double>(word);
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
  const auto value = [](const std::string& name) { return number_in<std::int64_t>(name); };
  if (std::all_of(names.begin(), names.end(), [&](const std::string& name) { return value(name).has_value(); })) {
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) { return value(a) < value(b); });
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
