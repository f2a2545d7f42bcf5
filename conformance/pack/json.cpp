#include "conformance/pack/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "spec/error.hpp"
#include "spec/protocol/base64.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
namespace fields = spec::fields;

constexpr std::uint8_t every_flag = reference::admits_finite | reference::admits_positive_infinity | reference::admits_negative_infinity |
                                    reference::admits_nan | reference::undecided;
constexpr std::array<std::string_view, 4> lists{"outputs", "tangents", "cotangents", "cotangent_tangents"};

[[nodiscard]] Json to_json(const Way& way) {
  Json json = Json::object();
  if (kind_of(way.lower.dtype) == Kind::real) {
    json["lower"] = spec::to_base64(way.lower.bytes);
    json["upper"] = spec::to_base64(way.upper.bytes);
  } else {
    json["exact"] = spec::to_base64(way.lower.bytes);
  }
  Json admits = Json::object();
  for (std::size_t i = 0; i < way.admits.size(); ++i) {
    if (way.admits[i] != reference::admits_finite) admits[std::to_string(i)] = way.admits[i];
  }
  if (!admits.empty()) json["admits"] = std::move(admits);
  return json;
}

[[nodiscard]] Json to_json(const PackedResult& result) {
  Json ways = Json::array();
  for (const Way& way : result.ways) ways.push_back(to_json(way));
  const Json tensor = spec::tensor_to_json(result.value);
  return {{"list", result.list}, {"index", result.index}, {"dtype", tensor.at("dtype")}, {"shape", tensor.at("shape")},
          {"value", tensor.at("data")}, {"ways", std::move(ways)}};
}

[[nodiscard]] Json to_json(const PackedTest& test) {
  Json json = spec::parse_json(spec::encode(test.request), "request");
  json["flags"] = test.flags;
  if (test.rejected) {
    json["rejected"] = true;
    return json;
  }
  if (test.joint) json["joint"] = true;
  json["results"] = Json::array();
  for (const PackedResult& result : test.results) json["results"].push_back(to_json(result));
  return json;
}

[[nodiscard]] std::size_t count_from_json(const Json& object, const char* key, const std::string& field) {
  const Json& json = fields::member(object, key, field);
  const std::int64_t value = fields::integer(json, fields::key(field, key));
  if (value < 0) fields::mismatch(fields::key(field, key), "a count", json);
  return static_cast<std::size_t>(value);
}

/// Elements in base64, for a tensor like this one.
[[nodiscard]] HostTensor elements_from_json(const Json& object, const char* key, const Json& type, const std::string& field) {
  const Json tensor = {{"dtype", fields::member(type, "dtype", field)}, {"shape", fields::member(type, "shape", field)}, {"data", fields::member(object, key, field)}};
  return spec::tensor_from_json(tensor, fields::key(field, key));
}

void read_admits(Way& way, const Json& object, const std::string& field) {
  fields::require_object(object, field);
  for (const auto& [position, json] : object.items()) {
    std::size_t i = 0;
    const char* const end = position.data() + position.size();
    const auto [stop, wrong] = std::from_chars(position.data(), end, i);
    if (wrong != std::errc() || stop != end || i >= way.admits.size())
      fields::mismatch(field, "positions below " + std::to_string(way.admits.size()), Json(position));
    const std::int64_t bits = fields::integer(json, fields::key(field, position));
    if (bits < 0 || bits > every_flag) fields::mismatch(fields::key(field, position), "bits from 0 to " + std::to_string(every_flag), json);
    way.admits[i] = static_cast<std::uint8_t>(bits);
  }
}

[[nodiscard]] Way way_from_json(const Json& json, const Json& result, const std::string& field) {
  fields::require_object(json, field);
  Way way;
  const DType dtype = fields::dtype(fields::member(result, "dtype", field), fields::key(field, "dtype"));
  const bool real = kind_of(dtype) == Kind::real;
  way.lower = elements_from_json(json, real ? "lower" : "exact", result, field);
  way.upper = real ? elements_from_json(json, "upper", result, field) : way.lower;
  way.admits.assign(static_cast<std::size_t>(way.lower.dims.count()), reference::admits_finite);
  if (const Json* admits = fields::optional_member(json, "admits", field)) read_admits(way, *admits, fields::key(field, "admits"));
  return way;
}

[[nodiscard]] PackedResult result_from_json(const Json& json, const std::string& field) {
  fields::require_object(json, field);
  PackedResult result;
  result.list = fields::string(fields::member(json, "list", field), fields::key(field, "list"));
  if (std::find(lists.begin(), lists.end(), result.list) == lists.end()) fields::mismatch(fields::key(field, "list"), "a list of an answer", json.at("list"));
  result.index = count_from_json(json, "index", field);
  result.value = elements_from_json(json, "value", json, field);
  const std::string at = fields::key(field, "ways");
  const Json& ways = fields::array(fields::member(json, "ways", field), at);
  if (ways.empty() || ways.size() > most_ways) fields::mismatch(at, "1 to " + std::to_string(most_ways) + " ways", Json(ways.size()));
  for (const Json& way : ways) result.ways.push_back(way_from_json(way, json, fields::item(at, result.ways.size())));
  return result;
}

[[nodiscard]] bool flag(const Json& json, const char* key, const std::string& field) {
  const Json* there = fields::optional_member(json, key, field);
  return there != nullptr && fields::boolean(*there, fields::key(field, key));
}

[[nodiscard]] PackedTest test_from_json(const Json& json, const std::string& field) {
  fields::require_object(json, field);
  PackedTest test;
  try {
    test.request = spec::request_from_json(json);
  } catch (const SpecViolation& error) {
    throw SpecViolation(field + ": " + error.what());
  }
  if (test.request.id.empty()) throw SpecViolation(field + ".id: expected the id of a test, found none");
  test.flags = fields::strings(fields::member(json, "flags", field), fields::key(field, "flags"));
  test.rejected = flag(json, "rejected", field);
  test.joint = flag(json, "joint", field);
  if (test.rejected) return test;
  const std::string at = fields::key(field, "results");
  for (const Json& result : fields::array(fields::member(json, "results", field), at)) {
    test.results.push_back(result_from_json(result, fields::item(at, test.results.size())));
    if (test.joint && test.results.back().ways.size() != test.results.front().ways.size())
      fields::mismatch(fields::item(at, test.results.size() - 1), "as many joint ways as the first result has", Json(test.results.back().ways.size()));
  }
  if (test.results.empty()) fields::mismatch(at, "results of a test that is not rejected", json.at("results"));
  return test;
}

[[nodiscard]] PackedFile file_from_json(const Json& json, const std::string& field) {
  fields::require_object(json, field);
  PackedFile file;
  file.operation = fields::string(fields::member(json, "operation", field), fields::key(field, "operation"));
  file.file = fields::string(fields::member(json, "file", field), fields::key(field, "file"));
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
  const bool named = !file.operation.empty() && std::all_of(file.operation.begin(), file.operation.end(), plain);
  if (!named || file.file != file.operation + ".json") fields::mismatch(fields::key(field, "file"), "the operation's name and .json", json.at("file"));
  file.sha256 = fields::string(fields::member(json, "sha256", field), fields::key(field, "sha256"));
  file.bytes = count_from_json(json, "bytes", field);
  file.tests = count_from_json(json, "tests", field);
  file.left_out = count_from_json(json, "left_out", field);
  return file;
}

void require_version(const Json& json) {
  const std::int64_t version = fields::integer(fields::member(json, "etalon_pack", ""), "etalon_pack");
  if (version != pack_version) throw Unsupported("etalon_pack: expected version " + std::to_string(pack_version) + ", found " + std::to_string(version));
}

}  // namespace

std::string to_json(const PackIndex& index) {
  Json files = Json::array();
  std::size_t tests = 0;
  for (const PackedFile& f : index.files) {
    tests += f.tests;
    files.push_back({{"operation", f.operation}, {"file", f.file}, {"tests", f.tests}, {"left_out", f.left_out}, {"bytes", f.bytes}, {"sha256", f.sha256}});
  }
  const Json json{{"etalon_pack", pack_version}, {"protocol", spec::protocol_version}, {"specification", index.specification},
                  {"contract", index.contract}, {"promises", spec::parse_json(index.contract_json, "contract")}, {"tier", index.tier},
                  {"seed", index.seed}, {"tests", tests}, {"files", std::move(files)}};
  return json.dump(1) + "\n";
}

PackIndex pack_index_from_json(std::string_view text) {
  const Json json = spec::parse_json(text, "pack.json");
  fields::require_object(json, "pack.json");
  require_version(json);
  PackIndex index;
  index.specification = fields::string(fields::member(json, "specification", ""), "specification");
  index.contract = fields::string(fields::member(json, "contract", ""), "contract");
  index.contract_json = fields::member(json, "promises", "").dump();
  index.tier = fields::string(fields::member(json, "tier", ""), "tier");
  const Json& seed = fields::member(json, "seed", "");
  if (!seed.is_number_unsigned()) fields::mismatch("seed", "a number that is not negative", seed);
  index.seed = seed.get<std::uint64_t>();
  std::set<std::string> names;
  for (const Json& file : fields::array(fields::member(json, "files", ""), "files")) {
    const std::string field = fields::item("files", index.files.size());
    index.files.push_back(file_from_json(file, field));
    if (!names.insert(index.files.back().file).second) fields::mismatch(field, "another file than those before", file.at("file"));
  }
  return index;
}

std::string to_json(const PackedOperation& operation) {
  std::set<std::string> flags;
  for (const PackedTest& test : operation.tests) flags.insert(test.flags.begin(), test.flags.end());
  Json notes = Json::object();
  for (const std::string& name : flags) notes[name] = note_of(name);
  std::string text = "{\"etalon_pack\":" + std::to_string(pack_version) + ",\n\"operation\":" + spec::to_line(operation.name) +
                     ",\n\"text\":" + spec::to_line(operation.text) + ",\n\"notes\":" + spec::to_line(notes) + ",\n\"tests\":[";
  const char* between = "\n";
  for (const PackedTest& test : operation.tests) {
    text += between + spec::to_line(to_json(test));
    between = ",\n";
  }
  return text + "\n]}\n";
}

PackedOperation packed_operation_from_json(std::string_view text) {
  const Json json = spec::parse_json(text, "tests");
  fields::require_object(json, "tests");
  require_version(json);
  PackedOperation operation;
  operation.name = fields::string(fields::member(json, "operation", ""), "operation");
  operation.text = fields::string(fields::member(json, "text", ""), "text");
  std::set<std::string> ids;
  for (const Json& test : fields::array(fields::member(json, "tests", ""), "tests")) {
    const std::string field = fields::item("tests", operation.tests.size());
    operation.tests.push_back(test_from_json(test, field));
    if (!ids.insert(operation.tests.back().request.id).second) fields::mismatch(fields::key(field, "id"), "an id that no other test has", test.at("id"));
  }
  return operation;
}

}  // namespace etalon::conformance
