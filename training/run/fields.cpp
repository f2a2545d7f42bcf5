#include "training/run/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {

namespace {

using nlohmann::json;

}  // namespace

Fields::Fields(std::string_view text, std::string where, std::initializer_list<std::string_view> names)
    : value_(parse_without_doubles(text, where)), where_(std::move(where)) {
  require_fields(names);
}

Fields Fields::object(std::string_view name, std::initializer_list<std::string_view> names) const {
  Fields inside(value(name), fmt::format("{}: {}", where_, name));
  inside.require_fields(names);
  return inside;
}

void Fields::require_fields(std::initializer_list<std::string_view> names) const {
  if (!value_.is_object()) throw IoError(where_ + ": expected a JSON object");
  for (const std::string_view name : names) {
    if (!value_.contains(std::string(name))) throw IoError(fmt::format("{}: {} is missing", where_, name));
  }
  for (const auto& item : value_.items()) {
    if (std::find(names.begin(), names.end(), item.key()) == names.end()) {
      throw IoError(fmt::format("{}: an unknown field '{}'", where_, as_quoted(item.key())));
    }
  }
}

void Fields::refuse(std::string_view name, std::string_view expected) const {
  throw IoError(
      fmt::format("{}: {} is {}, expected {}", where_, name, as_quoted(value(name).dump(-1, ' ', true)), expected));
}

const json& Fields::value(std::string_view name) const { return value_.at(std::string(name)); }

std::uint64_t Fields::whole(std::string_view name) const {
  if (!value(name).is_number_unsigned()) refuse(name, "a whole number");
  return value(name).get<std::uint64_t>();
}

std::int64_t Fields::count(std::string_view name) const {
  const std::uint64_t number = whole(name);
  if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) refuse(name, "a whole number of 63 bits");
  return static_cast<std::int64_t>(number);
}

double Fields::number(std::string_view name) const {
  if (!value(name).is_number()) refuse(name, "a number");
  return value(name).get<double>();
}

std::string Fields::text(std::string_view name) const {
  if (!value(name).is_string()) refuse(name, "a text");
  return value(name).get<std::string>();
}

std::string Fields::digest(std::string_view name) const {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  std::string digits = text(name);
  if (digits.size() != 64 || !std::all_of(digits.begin(), digits.end(), is_digit))
    refuse(name, "64 hexadecimal digits");
  return digits;
}

const std::vector<json>& Fields::list(std::string_view name) const {
  if (!value(name).is_array()) refuse(name, "a list");
  return value(name).get_ref<const json::array_t&>();
}

}  // namespace etalon::training
