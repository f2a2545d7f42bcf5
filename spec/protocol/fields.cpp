#include "spec/protocol/fields.hpp"

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec::fields {

void mismatch(const std::string& field, std::string_view expected, const Json& found) {
  std::string text = to_line(found);
  std::size_t longest = 60;
  while (longest < text.size() && (static_cast<unsigned char>(text[longest]) & 0xC0U) == 0x80U) --longest;  // whole characters
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  throw SpecViolation(field + ": expected " + std::string(expected) + ", found " + text);
}

const Json* optional_member(const Json& object, std::string_view name, const std::string& field) {
  require_object(object, field);
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json& member(const Json& object, std::string_view name, const std::string& field) {
  const Json* found = optional_member(object, name, field);
  if (found == nullptr) throw SpecViolation(key(field, name) + ": the field is missing");
  return *found;
}

const std::string& string(const Json& json, const std::string& field) {
  if (!json.is_string()) mismatch(field, "a string", json);
  return json.get_ref<const std::string&>();
}

std::int64_t integer(const Json& json, const std::string& field) {
  if (!json.is_number_integer() || (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX))
    mismatch(field, "an integer", json);
  return json.get<std::int64_t>();
}

bool boolean(const Json& json, const std::string& field) {
  if (!json.is_boolean()) mismatch(field, "true or false", json);
  return json.get<bool>();
}

const Json& array(const Json& json, const std::string& field) {
  if (!json.is_array()) mismatch(field, "an array", json);
  return json;
}

void require_object(const Json& json, const std::string& field) {
  if (!json.is_object()) mismatch(field, "an object", json);
}

std::vector<std::string> strings(const Json& json, const std::string& field) {
  std::vector<std::string> result;
  for (const Json& element : array(json, field)) result.push_back(string(element, item(field, result.size())));
  return result;
}

std::vector<std::int64_t> integers(const Json& json, const std::string& field) {
  std::vector<std::int64_t> result;
  for (const Json& element : array(json, field)) result.push_back(integer(element, item(field, result.size())));
  return result;
}

std::string item(const std::string& field, std::size_t i) { return field + "[" + std::to_string(i) + "]"; }

std::string key(const std::string& field, std::string_view name) {
  return field.empty() ? std::string(name) : field + "." + std::string(name);
}

DType dtype(const Json& json, const std::string& field) {
  const std::string& name = string(json, field);
  const auto found = dtype_named(name);
  if (!found) throw Unsupported(field + ": element type '" + as_quoted(name) + "' is not offered");
  return *found;
}

Dims dims(const Json& json, const std::string& field) {
  Dims result;
  const std::vector<std::int64_t> extents = integers(json, field);
  if (extents.size() > Dims::max_rank) mismatch(field, "at most 8 extents", json);
  for (const std::int64_t extent : extents) {
    if (extent < 0) mismatch(field, "extents that are not negative", json);
    result.push_back(extent);
  }
  return result;
}

}  // namespace etalon::spec::fields
