#include "conformance/door/request.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
namespace fields = spec::fields;

constexpr std::array<std::string_view, 3> kinds{"check", "derive", "explain"};
constexpr std::array<std::string_view, 6> known{"kind", "definitions", "program", "operation", "dtype", "sample"};

[[nodiscard]] DoorKind kind_in(const Json& json) {
  const std::string& name = fields::string(fields::member(json, "kind", "request"), "kind");
  const auto at = std::find(kinds.begin(), kinds.end(), name);
  if (at == kinds.end()) throw SpecViolation("kind: expected check, derive or explain, found " + as_quoted(name));
  return static_cast<DoorKind>(at - kinds.begin());
}

[[nodiscard]] std::string text_in(const Json& json, std::string_view key) {
  const Json* text = fields::optional_member(json, key, "request");
  return text == nullptr ? "" : fields::string(*text, std::string(key));
}

[[nodiscard]] DType dtype_in(const Json& json) {
  const std::string name = text_in(json, "dtype");
  if (name.empty() || name == "f32") return DType::f32;
  if (name != "f64") throw SpecViolation("dtype: expected f32 or f64, found " + as_quoted(name));
  return DType::f64;
}

[[nodiscard]] std::uint64_t sample_in(const Json& json) {
  const Json* number = fields::optional_member(json, "sample", "request");
  const std::int64_t sample = number == nullptr ? 0 : fields::integer(*number, "sample");
  if (sample < 0) throw SpecViolation("sample: expected a number from 0 on, found " + std::to_string(sample));
  return static_cast<std::uint64_t>(sample);
}

}  // namespace

DoorRequest door_request(std::string_view text) {
  const Json json = spec::parse_json(text, "request");
  fields::require_object(json, "request");
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw SpecViolation("request: expected kind, definitions, program, operation, dtype or sample, found " + as_quoted(key));
  }
  DoorRequest request{kind_in(json), text_in(json, "definitions"), text_in(json, "program"), text_in(json, "operation"),
                      dtype_in(json), sample_in(json)};
  if (request.kind == DoorKind::check && request.definitions.empty() && request.program.empty())
    throw SpecViolation("request: expected definitions or a program to check, found neither");
  return request;
}

std::string operation_of(const DoorRequest& request, const spec::Library& library) {
  if (!request.operation.empty()) return request.operation;
  if (library.added().empty()) throw SpecViolation("operation: expected a name, or definitions, found neither");
  return library.added().back();
}

}  // namespace etalon::conformance
