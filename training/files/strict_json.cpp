#include "training/files/strict_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "spec/error.hpp"
#include "spec/json_depth.hpp"
#include "spec/json_fault.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"

namespace etalon::training {

using nlohmann::json;

namespace {

/// Sees every key while a text is read, and remembers the first that stands twice in its object.
class Keys {
 public:
  bool operator()(json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second && doubled_.empty()) {
      doubled_ = as_quoted(parsed.get<std::string>());
    }
    return true;
  }
  [[nodiscard]] const std::string& doubled() const { return doubled_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string doubled_;
};

/// A document in which no object has a key twice, which would mean one thing here and another elsewhere.
json parse_without_doubles(std::string_view text, const std::string& source) {
  if (spec::is_too_deep(text)) throw IoError(fmt::format("{}: JSON nested more than {} deep", source, spec::deepest_json));
  Keys keys;
  json document;
  try {
    document = json::parse(text, [&](int, json::parse_event_t event, json& parsed) { return keys(event, parsed); });
  } catch (const json::parse_error& error) {
    throw IoError(fmt::format("{}: {}", source, malformed_json(text, error.byte, error.what())));
  } catch (const json::exception&) {  // a number beyond all doubles
    throw IoError(fmt::format("{}: malformed JSON: a number out of range", source));
  }
  if (!keys.doubled().empty()) throw IoError(fmt::format("{}: {} stands twice in one object", source, keys.doubled()));
  return document;
}

}  // namespace

StrictJson StrictJson::parse(std::string_view text, const std::string& source) {
  auto document = std::make_shared<const json>(parse_without_doubles(text, source));
  const json* root = document.get();
  return {std::move(document), root, source};
}

StrictJson::StrictJson(std::shared_ptr<const json> document, const json* value, std::string place)
    : document_(std::move(document)), value_(value), place_(std::move(place)) {}

void StrictJson::refuse(std::string_view expected) const {
  throw IoError(fmt::format("{}: expected {}, found {}", place_, expected, value_->type_name()));
}

std::string StrictJson::place() const { return place_; }

bool StrictJson::has(const std::string& key) const {
  if (!value_->is_object()) refuse("an object");
  return value_->contains(key);
}

StrictJson StrictJson::at(const std::string& key) const {
  if (!has(key)) throw IoError(fmt::format("{}: {} is missing", place_, key));
  return {document_, &value_->at(key), fmt::format("{}: {}", place_, key)};
}

std::vector<StrictJson> StrictJson::items() const {
  if (!value_->is_array()) refuse("a list");
  std::vector<StrictJson> all;
  for (const json& item : *value_) all.push_back({document_, &item, fmt::format("{}[{}]", place_, all.size())});
  return all;
}

std::vector<std::string> StrictJson::keys() const {
  if (!value_->is_object()) refuse("an object");
  std::vector<std::string> all;
  for (const auto& [key, value] : value_->items()) all.push_back(key);
  return all;
}

void StrictJson::allow(const std::vector<std::string>& keys) const {
  for (const std::string& key : this->keys()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw IoError(fmt::format("{}: {}", place_, unknown_name("field", as_quoted(key), keys)));
    }
  }
}

std::string StrictJson::text() const {
  if (!value_->is_string()) refuse("a text");
  return value_->get<std::string>();
}

std::uint64_t StrictJson::whole() const {
  if (!value_->is_number_unsigned()) refuse("an integer from 0");
  return value_->get<std::uint64_t>();
}

std::int64_t StrictJson::count() const {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (!value_->is_number_unsigned() || whole() > most) refuse("an integer from 0 to 2^63 - 1");
  return static_cast<std::int64_t>(whole());
}

std::int64_t StrictJson::count(std::int64_t most) const {
  const std::int64_t found = count();
  if (found > most) throw IoError(fmt::format("{}: expected an integer from 0 to {}, found {}", place_, most, found));
  return found;
}

double StrictJson::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->get<double>();
}

bool StrictJson::truth() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::string StrictJson::digest() const {
  const std::string digits = text();
  if (digits.size() != 64 || digits.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw IoError(fmt::format("{}: expected 64 lower-case hexadecimal digits, found {} characters", place_, digits.size()));
  }
  return digits;
}

}  // namespace etalon::training
