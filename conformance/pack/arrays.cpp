#include "conformance/pack/arrays.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

constexpr std::string_view c_types = R"(#include <stddef.h>
#include <stdint.h>
#ifndef ETALON_PACK_1
#define ETALON_PACK_1
typedef struct { const char *dtype; size_t shape_count; const int64_t *shape; size_t data_count; const uint8_t *data; } etalon_tensor;
typedef struct { size_t lower_count; const uint8_t *lower; size_t upper_count; const uint8_t *upper; size_t admits_count; const uint8_t *admits; } etalon_way;
typedef struct { const char *list; size_t index; etalon_tensor value; size_t ways_count; const etalon_way *ways; } etalon_result;
typedef struct { const char *name, *value; } etalon_attribute;
typedef struct {
  const char *id, *mode; int rejected, joint;
  size_t attributes_count; const etalon_attribute *attributes;
  size_t inputs_count; const etalon_tensor *inputs; size_t wrt_count; const uint8_t *wrt;
  size_t tangents_count; const etalon_tensor *tangents; size_t cotangents_count; const etalon_tensor *cotangents;
  size_t cotangent_tangents_count; const etalon_tensor *cotangent_tangents;
  size_t results_count; const etalon_result *results;
} etalon_test;
#endif
)";

constexpr std::string_view rust_types = R"(pub struct Tensor { pub dtype: &'static str, pub shape: &'static [i64], pub data: &'static [u8] }
pub struct Way { pub lower: &'static [u8], pub upper: &'static [u8], pub admits: &'static [u8] }
pub struct Outcome { pub list: &'static str, pub index: usize, pub value: Tensor, pub ways: &'static [Way] }
pub struct Attribute { pub name: &'static str, pub value: &'static str }
pub struct Test {
    pub id: &'static str, pub mode: &'static str, pub rejected: bool, pub joint: bool, pub attributes: &'static [Attribute],
    pub inputs: &'static [Tensor], pub wrt: &'static [u8], pub tangents: &'static [Tensor], pub cotangents: &'static [Tensor],
    pub cotangent_tangents: &'static [Tensor], pub results: &'static [Outcome],
}
)";

using Fields = std::vector<std::string>;

/// Records and lists as the language writes constants.
class Writer {
 public:
  explicit Writer(ArrayLanguage language) : c_(language == ArrayLanguage::c) {}

  [[nodiscard]] std::string record(std::string_view type, const Fields& fields) const {
    return fmt::format("{}{{{}}}", c_ ? "" : fmt::format("{} ", type), fmt::join(fields, ", "));
  }
  [[nodiscard]] std::string field(std::string_view name, std::string_view value) const {
    return c_ ? fmt::format(".{} = {}", name, value) : fmt::format("{}: {}", name, value);
  }
  [[nodiscard]] std::string field(std::string_view name, bool value) const { return field(name, std::string_view(c_ ? (value ? "1" : "0") : (value ? "true" : "false"))); }
  [[nodiscard]] std::string text(std::string_view name, std::string_view value) const { return field(name, spec::to_line(spec::Json(std::string(value)))); }
  [[nodiscard]] std::string list(std::string_view name, std::string_view c_type, const Fields& items) const {
    if (!c_) return fmt::format("{}: &[{}]", name, fmt::join(items, ", "));
    if (items.empty()) return fmt::format(".{}_count = 0, .{} = NULL", name, name);
    return fmt::format(".{0}_count = {1}, .{0} = (const {2}[]){{{3}}}", name, items.size(), c_type, fmt::join(items, ","));
  }
  [[nodiscard]] std::string bytes(std::string_view name, std::span<const std::byte> all) const {
    Fields items;
    for (const std::byte b : all) items.push_back(std::to_string(std::to_integer<int>(b)));
    return list(name, "uint8_t", items);
  }
  [[nodiscard]] std::string tensor(std::string_view dtype, const HostTensor& t) const {
    Fields shape;
    for (const std::int64_t extent : t.dims) shape.push_back(std::to_string(extent));
    return record("Tensor", {text("dtype", dtype), list("shape", "int64_t", shape), bytes("data", t.bytes)});
  }
  [[nodiscard]] std::string tensors(std::string_view name, const std::vector<std::optional<HostTensor>>& all) const {
    Fields items;
    for (const auto& t : all) items.push_back(t ? tensor(name_of(t->dtype), *t) : record("Tensor", {text("dtype", ""), list("shape", "int64_t", {}), bytes("data", {})}));
    return list(name, "etalon_tensor", items);
  }
  [[nodiscard]] std::string result(const PackedResult& r) const {
    Fields ways;
    for (const Way& way : r.ways) ways.push_back(record("Way", {bytes("lower", way.lower.bytes), bytes("upper", way.upper.bytes), bytes("admits", std::as_bytes(std::span(way.admits)))}));
    return record("Outcome", {text("list", r.list), field("index", std::to_string(r.index)), field("value", tensor(name_of(r.value.dtype), r.value)), list("ways", "etalon_way", ways)});
  }
  [[nodiscard]] std::string test(const PackedTest& test) const {
    Fields attributes, results, wrt;
    for (const auto& step : test.request.program.steps) {
      const auto* call = std::get_if<spec::Call>(&step);
      if (call == nullptr) continue;
      for (const auto& [name, value] : call->attributes) attributes.push_back(record("Attribute", {text("name", name), text("value", spec::attribute_to_json(value).dump())}));
    }
    for (const bool mark : test.request.wrt) wrt.emplace_back(mark ? "1" : "0");
    for (const PackedResult& r : test.results) results.push_back(result(r));
    const spec::Request& q = test.request;
    return record("Test", {text("id", q.id), text("mode", name_of(q.mode)), field("rejected", test.rejected), field("joint", test.joint),
                           list("attributes", "etalon_attribute", attributes), tensors("inputs", {q.inputs.begin(), q.inputs.end()}), list("wrt", "uint8_t", wrt),
                           tensors("tangents", q.tangents), tensors("cotangents", q.cotangents), tensors("cotangent_tangents", q.cotangent_tangents),
                           list("results", "etalon_result", results)});
  }

 private:
  bool c_;
};

}  // namespace

std::string arrays_of(const PackedOperation& operation, ArrayLanguage language, std::string_view pack) {
  const Writer writer(language);
  const bool c = language == ArrayLanguage::c;
  std::string text = fmt::format("// {} of {}, made by `etalon pack header`\n{}", operation.name, pack, c ? c_types : rust_types);
  text += c ? fmt::format("static const etalon_test etalon_{}[] = {{\n", operation.name) : std::string("pub const TESTS: &[Test] = &[\n");
  for (const PackedTest& test : operation.tests) text += writer.test(test) + ",\n";
  text += c ? fmt::format("}};\nstatic const size_t etalon_{}_count = {};\n", operation.name, operation.tests.size()) : std::string("];\n");
  return text;
}

}  // namespace etalon::conformance
