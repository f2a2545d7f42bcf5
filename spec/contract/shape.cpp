#include "spec/contract/shape.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "spec/nearest.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

using nlohmann::json;

std::string plain(double x) {
  return x == std::floor(x) && std::fabs(x) < 0x1p53 ? std::to_string(static_cast<std::int64_t>(x)) : json(x).dump();
}

bool fits(const Shape& s, const json& v) {
  if (s.or_null && v.is_null()) return true;
  switch (s.kind) {
    case Shape::Kind::boolean: return v.is_boolean();
    case Shape::Kind::integer:
      return v.is_number_integer() && v.get<double>() >= s.least && v.get<double>() <= s.most;
    case Shape::Kind::number: return v.is_number() && v.get<double>() >= s.least && std::isfinite(v.get<double>());
    case Shape::Kind::text: return v.is_string();
    case Shape::Kind::choice:
      return v.is_string() && std::find(s.choices.begin(), s.choices.end(), v.get<std::string>()) != s.choices.end();
    case Shape::Kind::object: return v.is_object();
    case Shape::Kind::anything: return true;
  }
  return false;
}

/// The value as messages show it: long ones are cut.
std::string shown(const json& v) {
  if (v.is_object()) return "an object";
  if (v.is_array()) return "a list";
  return as_quoted(v.dump());
}

}  // namespace

std::string Shape::wanted() const {
  std::string text;
  switch (kind) {
    case Kind::boolean: text = "true or false"; break;
    case Kind::integer: text = "an integer in " + plain(least) + ".." + plain(most); break;
    case Kind::number: text = "a number >= " + plain(least); break;
    case Kind::text: text = "a string"; break;
    case Kind::object: text = "an object"; break;
    case Kind::anything: text = "anything"; break;
    case Kind::choice:
      for (std::size_t i = 0; i < choices.size(); ++i) {
        text += (i == 0 ? "\"" : i + 1 == choices.size() ? " or \"" : ", \"") + choices[i] + "\"";
      }
  }
  return or_null ? text + " or null" : text;
}

void find_errors(const Shape& shape, const json& value, const std::string& where, std::vector<std::string>& errors) {
  if (!fits(shape, value)) {
    std::string line = where + ": expected " + shape.wanted() + ", found " + shown(value);
    if (shape.kind == Shape::Kind::choice && value.is_string()) {
      line += "; did you mean \"" + nearest_name(value.get<std::string>(), shape.choices) + "\"?";
    }
    errors.push_back(std::move(line));
    return;
  }
  if (shape.kind != Shape::Kind::object || !value.is_object()) return;
  std::vector<std::string> keys;
  for (const Shape& f : shape.fields) keys.push_back(f.key);
  for (const auto& [key, inner] : value.items()) {
    const auto field = std::find_if(shape.fields.begin(), shape.fields.end(), [&k = key](const auto& f) { return f.key == k; });
    if (field == shape.fields.end()) errors.push_back(where + ": " + unknown_name("key", key, keys));
    else find_errors(*field, inner, where + "." + key, errors);
  }
}

nlohmann::ordered_json schema_of(const Shape& s) {
  nlohmann::ordered_json j = nlohmann::ordered_json::object();
  constexpr const char* types[] = {"boolean", "integer", "number", "string", "string", "object"};
  if (s.kind != Shape::Kind::anything) {
    const std::string type = types[static_cast<std::size_t>(s.kind)];
    if (s.or_null) j["type"] = {type, "null"};
    else j["type"] = type;
  }
  if (!s.meaning.empty()) j["description"] = s.meaning;
  const auto bound = [](double x) { return x == std::floor(x) ? nlohmann::ordered_json(static_cast<std::int64_t>(x)) : nlohmann::ordered_json(x); };
  if (s.kind == Shape::Kind::integer || s.kind == Shape::Kind::number) j["minimum"] = bound(s.least);
  if (s.kind == Shape::Kind::integer) j["maximum"] = bound(s.most);
  if (s.kind == Shape::Kind::choice) j["enum"] = s.choices;
  if (s.kind != Shape::Kind::object) return j;
  auto properties = nlohmann::ordered_json::object();
  for (const Shape& f : s.fields) properties[f.key] = schema_of(f);
  j["properties"] = properties;
  j["additionalProperties"] = false;
  return j;
}

}  // namespace etalon::spec
