#include "spec/protocol/message.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/message_json.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

using Tensors = std::vector<std::optional<HostTensor>>;


[[nodiscard]] Mode mode_from_json(const Json& json, const std::string& field) {
  const std::string& text = fields::string(json, field);
  if (const auto mode = enumerator<Mode>(mode_names, text)) return *mode;
  throw Unsupported(field + ": mode '" + as_quoted(text) + "' is not offered");
}

using Places = std::vector<std::optional<Placement>>;

[[nodiscard]] Json placed_to_json(const HostTensor& tensor, const Places& places, std::size_t i) {
  return i < places.size() && places[i] ? tensor_to_json(tensor, *places[i]) : tensor_to_json(tensor);
}

[[nodiscard]] Json tensors_to_json(const Tensors& tensors, const Places& places = {}) {
  Json list = Json::array();
  for (const auto& tensor : tensors) list.push_back(tensor ? placed_to_json(*tensor, places, list.size()) : Json(nullptr));
  return list;
}

/// Adds one tensor's bytes to those of its list. \throws Unsupported when they are too many
void count_bytes(const HostTensor& tensor, std::int64_t& bytes, const std::string& field) {
  bytes += static_cast<std::int64_t>(tensor.bytes.size());
  if (bytes > largest_tensor_bytes) throw Unsupported(field + ".shape: the list has more than " + std::to_string(largest_tensor_bytes) + " bytes");
}

[[nodiscard]] Tensors tensors_from_json(const Json& owner, const char* name, const std::string& field) {
  Tensors tensors;
  const Json* list = fields::optional_member(owner, name, field);
  if (list == nullptr) return tensors;
  const std::string at = fields::key(field, name);
  std::int64_t bytes = 0;
  for (const Json& tensor : fields::array(*list, at)) {
    const std::string item = fields::item(at, tensors.size());
    tensors.push_back(tensor.is_null() ? std::nullopt : std::optional(tensor_from_json(tensor, item)));
    if (tensors.back()) count_bytes(*tensors.back(), bytes, item);
  }
  return tensors;
}

[[nodiscard]] std::vector<HostTensor> whole_tensors(const Json& owner, const char* name, const std::string& field) {
  std::vector<HostTensor> tensors;
  const std::string at = fields::key(field, name);
  std::int64_t bytes = 0;
  for (const Json& tensor : fields::array(fields::member(owner, name, field), at)) {
    const std::string item = fields::item(at, tensors.size());
    tensors.push_back(tensor_from_json(tensor, item));
    count_bytes(tensors.back(), bytes, item);
  }
  return tensors;
}

/// How the tensors of a list that was read lie in their buffers; empty where all are dense.
[[nodiscard]] Places places_from_json(const Json& owner, const char* name) {
  Places places;
  const Json* list = fields::optional_member(owner, name, "");
  if (list == nullptr) return places;
  for (const Json& tensor : *list) {
    places.push_back(tensor.is_null() ? std::nullopt : placement_from_json(tensor, fields::item(name, places.size())));
  }
  const bool dense = std::none_of(places.begin(), places.end(), [](const auto& place) { return place.has_value(); });
  return dense ? Places{} : places;
}

/// One truth value per input, or the positions of the marked ones. Without the field those with a tangent are marked.
[[nodiscard]] std::vector<bool> wrt_from_json(const Json& request, std::size_t inputs,
                                              const std::vector<std::optional<HostTensor>>& tangents) {
  std::vector<bool> wrt(inputs, false);
  const Json* json = fields::optional_member(request, "wrt", "");
  if (json == nullptr) {
    for (std::size_t i = 0; i < inputs && i < tangents.size(); ++i) wrt[i] = tangents[i].has_value();
    return wrt;
  }
  const bool flags = !fields::array(*json, "wrt").empty() && json->front().is_boolean();
  if (flags && json->size() != inputs) throw SpecViolation("wrt: expected one truth value per input, found " + std::to_string(json->size()));
  for (std::size_t i = 0; i < json->size(); ++i) {
    if (flags) {
      wrt[i] = fields::boolean((*json)[i], fields::item("wrt", i));
      continue;
    }
    const std::int64_t position = fields::integer((*json)[i], fields::item("wrt", i));
    if (position < 0 || static_cast<std::uint64_t>(position) >= inputs)
      throw SpecViolation(fields::item("wrt", i) + ": expected the position of an input, found " + std::to_string(position));
    wrt[static_cast<std::size_t>(position)] = true;
  }
  return wrt;
}

[[nodiscard]] Json modes_to_json(const std::vector<Mode>& modes) {
  Json list = Json::array();
  for (const Mode mode : modes) list.push_back(name_of(mode));
  return list;
}

[[nodiscard]] Refusal refusal_from_json(Refusal::Kind kind, const Json& why, const std::string& field) {
  Refusal refusal{kind, "", ""};
  if (why.is_object()) {
    refusal.why = fields::string(fields::member(why, "why", field), fields::key(field, "why"));
    if (const Json* what = fields::optional_member(why, "what", field)) refusal.what = fields::string(*what, fields::key(field, "what"));
  } else {
    refusal.why = fields::string(why, field);
  }
  return refusal;
}

[[nodiscard]] Json refusal_to_json(const std::string& id, const Refusal& refusal) {
  Json json = {{"id", id}};
  switch (refusal.kind) {
    case Refusal::Kind::unsupported:
      json["unsupported"] = Json::object();
      json["unsupported"]["what"] = refusal.what.empty() ? "operation" : refusal.what;
      json["unsupported"]["why"] = refusal.why;
      break;
    case Refusal::Kind::rejected: json["rejected"] = refusal.why; break;
    case Refusal::Kind::error:
    case Refusal::Kind::crashed:
    case Refusal::Kind::timeout: json["error"] = refusal.why; break;
  }
  return json;
}

[[nodiscard]] std::vector<std::string> operation_names(const Json& list) {
  std::vector<std::string> names;
  for (const Json& entry : fields::array(list, "operations")) {
    const std::string at = fields::item("operations", names.size());
    if (entry.is_string()) {
      names.push_back(entry.get<std::string>());
      continue;
    }
    const Json* name = fields::optional_member(entry, "operation", at);
    if (name == nullptr) name = &fields::member(entry, "name", at);
    names.push_back(fields::string(*name, at));
  }
  return names;
}

[[nodiscard]] std::int64_t positive(const Json& json, const std::string& field) {
  const std::int64_t value = fields::integer(json, field);
  if (value < 1) fields::mismatch(field, "an integer of at least 1", json);
  return value;
}

/// An answer has exactly one of these.
void require_one_kind(const Json& json) {
  std::string found;
  int count = 0;
  for (const char* name : {"outputs", "unsupported", "rejected", "error"}) {
    if (fields::optional_member(json, name, "") == nullptr) continue;
    found += (count++ == 0 ? "" : " and ") + std::string(name);
  }
  if (count == 1) return;
  throw SpecViolation("answer: expected exactly one of outputs, unsupported, rejected and error, found " +
                      (count == 0 ? std::string("none") : found));
}

template <class T, class Read>
void read_optional(const Json& json, const char* name, T& into, const Read& read) {
  if (const Json* found = fields::optional_member(json, name, "")) into = read(*found, std::string(name));
}

}  // namespace

Request request_from_json(const Json& json) {
  Request request;
  if (const Json* id = fields::optional_member(json, "id", "")) request.id = fields::string(*id, "id");
  request.mode = mode_from_json(fields::member(json, "mode", ""), "mode");
  request.program = program_from_json(fields::member(json, "program", ""), "program");
  request.inputs = whole_tensors(json, "inputs", "");
  request.tangents = tensors_from_json(json, "tangents", "");
  request.wrt = wrt_from_json(json, request.program.inputs.size(), request.tangents);
  request.cotangents = tensors_from_json(json, "cotangents", "");
  request.cotangent_tangents = tensors_from_json(json, "cotangent_tangents", "");
  request.placements = {places_from_json(json, "inputs"), places_from_json(json, "tangents"), places_from_json(json, "cotangents"),
                        places_from_json(json, "cotangent_tangents")};
  return request;
}

std::optional<Shown> shown_from_json(const Json& json) {
  const Json* element = fields::optional_member(json, "element", "");
  if (element == nullptr) return std::nullopt;
  fields::require_object(*element, "element");
  const std::string list = fields::string(fields::member(*element, "list", "element"), "element.list");
  if (list != "outputs" && list != "tangents" && list != "cotangents") fields::mismatch("element.list", "outputs, tangents or cotangents", list);
  const auto place = [&](const char* name) {
    const Json& found = fields::member(*element, name, "element");
    const std::int64_t at = fields::integer(found, std::string("element.") + name);
    if (at < 0) fields::mismatch(std::string("element.") + name, "at least 0", found);
    return static_cast<std::size_t>(at);
  };
  return Shown{list, place("tensor"), place("element")};
}

Json answer_to_json(const std::string& id, const Answer& answer) {
  if (const auto* refusal = std::get_if<Refusal>(&answer)) return refusal_to_json(id, *refusal);
  const Numbers& numbers = std::get<Numbers>(answer);
  Json outputs = Json::array();
  for (const HostTensor& tensor : numbers.outputs) outputs.push_back(tensor_to_json(tensor));
  Json json = {{"id", id}, {"outputs", std::move(outputs)}};
  const bool second = !numbers.tangents.empty() && !numbers.cotangents.empty();
  if (!numbers.cotangents.empty()) json["cotangents"] = tensors_to_json(numbers.cotangents);
  if (!numbers.tangents.empty()) json[second ? "cotangent_tangents" : "tangents"] = tensors_to_json(numbers.tangents);
  return json;
}

std::string encode_describe() { return to_line({{"etalon", protocol_version}, {"request", "describe"}}); }

namespace {

[[nodiscard]] Json request_to_json(const Request& request, std::string_view kind) {
  Json inputs = Json::array();
  for (const HostTensor& tensor : request.inputs) inputs.push_back(placed_to_json(tensor, request.placements.inputs, inputs.size()));
  Json json = {{"request", kind}, {"id", request.id}, {"mode", name_of(request.mode)},
               {"program", program_to_json(request.program)}, {"inputs", std::move(inputs)}};
  if (request.mode != Mode::forward) {
    json["wrt"] = Json::array();
    for (std::size_t i = 0; i < request.wrt.size(); ++i) {
      if (request.wrt[i]) json["wrt"].push_back(i);
    }
  }
  if (!request.tangents.empty()) json["tangents"] = tensors_to_json(request.tangents, request.placements.tangents);
  if (!request.cotangents.empty()) json["cotangents"] = tensors_to_json(request.cotangents, request.placements.cotangents);
  if (!request.cotangent_tangents.empty()) json["cotangent_tangents"] = tensors_to_json(request.cotangent_tangents, request.placements.cotangent_tangents);
  return json;
}

}  // namespace

std::string encode(const Request& request) { return to_line(request_to_json(request, "run")); }

std::string encode_script(const Request& request, const std::optional<Shown>& shown) {
  Json json = request_to_json(request, "script");
  if (shown) json["element"] = {{"list", shown->list}, {"tensor", shown->tensor}, {"element", shown->element}};
  return to_line(json);
}

std::string encode(const Description& d) {
  Json json = {{"etalon", protocol_version}, {"protocol", protocol_version}, {"name", d.name}, {"version", d.version}};
  json["operations"] = d.operations ? Json(*d.operations) : Json("all");
  json["dtypes"] = Json::array();
  for (const DType dtype : d.dtypes) json["dtypes"].push_back(name_of(dtype));
  json["modes"] = modes_to_json(d.modes);
  json["contract"] = parse_json(to_json(d.contract), "contract");
  json["fuses"] = d.fuses;
  json["materialises"] = !d.fuses;
  json["rejects"] = d.rejects;
  json["deterministic"] = d.deterministic;
  json["layouts"] = d.layouts;
  json["running_attributes"] = d.running_attributes;
  json["generator"] = d.generator ? Json(*d.generator) : Json(nullptr);
  json["pipeline"] = d.pipeline;
  json["max_bytes"] = d.max_bytes;
  json["scripts"] = d.scripts;
  return to_line(json);
}

std::string encode(const std::string& id, const Answer& answer) { return to_line(answer_to_json(id, answer)); }

Request decode_request(std::string_view line) {
  const Json json = parse_json(line, "request");
  fields::require_object(json, "request");
  return request_from_json(json);
}

Description decode_description(std::string_view line) {
  const Json json = parse_json(line, "description");
  fields::require_object(json, "description");
  const std::int64_t version = fields::integer(fields::member(json, "etalon", ""), "etalon");
  if (version != protocol_version) throw SpecViolation("etalon: expected protocol 1, found " + std::to_string(version));
  Description d;
  d.name = fields::string(fields::member(json, "name", ""), "name");
  read_optional(json, "version", d.version, fields::string);
  for (const std::string& name : fields::strings(fields::member(json, "dtypes", ""), "dtypes")) {
    if (const auto dtype = dtype_named(name)) d.dtypes.push_back(*dtype);  // types that this suite does not know are not asked for
  }
  for (const Json& mode : fields::array(fields::member(json, "modes", ""), "modes")) d.modes.push_back(mode_from_json(mode, "modes"));
  if (const Json* contract = fields::optional_member(json, "contract", "")) d.contract = parse_contract(to_line(*contract));
  if (const Json* operations = fields::optional_member(json, "operations", "")) {
    if (!operations->is_string()) d.operations = operation_names(*operations);
    else if (*operations != "all") fields::mismatch("operations", "\"all\" or a list", *operations);
  }
  d.fuses = true;  // a stranger that says nothing may fuse
  read_optional(json, "fuses", d.fuses, fields::boolean);
  if (const Json* materialises = fields::optional_member(json, "materialises", "")) d.fuses = !fields::boolean(*materialises, "materialises");
  d.rejects = false;
  read_optional(json, "rejects", d.rejects, fields::boolean);
  read_optional(json, "deterministic", d.deterministic, fields::boolean);
  d.layouts = true;
  read_optional(json, "layouts", d.layouts, fields::boolean);
  read_optional(json, "running_attributes", d.running_attributes, fields::boolean);
  if (const Json* generator = fields::optional_member(json, "generator", "")) d.generator = fields::string(*generator, "generator");
  read_optional(json, "pipeline", d.pipeline, positive);
  read_optional(json, "max_bytes", d.max_bytes, positive);
  read_optional(json, "scripts", d.scripts, fields::boolean);
  return d;
}

Reply decode_reply(std::string_view line) {
  const Json json = parse_json(line, "answer");
  fields::require_object(json, "answer");
  Reply reply;
  if (!json.contains("id")) throw SpecViolation("id: the field is missing");
  if (const Json* id = fields::optional_member(json, "id", "")) reply.id = fields::string(*id, "id");
  require_one_kind(json);
  constexpr std::pair<const char*, Refusal::Kind> refusals[] = {{"unsupported", Refusal::Kind::unsupported},
                                                                {"rejected", Refusal::Kind::rejected},
                                                                {"error", Refusal::Kind::error}};
  for (const auto& [name, kind] : refusals) {
    if (const Json* why = fields::optional_member(json, name, "")) {
      reply.answer = refusal_from_json(kind, *why, name);
      return reply;
    }
  }
  Numbers numbers;
  numbers.outputs = whole_tensors(json, "outputs", "");
  numbers.cotangents = tensors_from_json(json, "cotangents", "");
  numbers.tangents = tensors_from_json(json, json.contains("cotangent_tangents") ? "cotangent_tangents" : "tangents", "");
  reply.answer = std::move(numbers);
  return reply;
}

std::optional<std::string> decode_script(std::string_view line, const std::string& id) {
  const Json json = parse_json(line, "answer");
  fields::require_object(json, "answer");
  const Json* answered = fields::optional_member(json, "id", "");
  if (answered == nullptr || fields::string(*answered, "id") != id) throw SpecViolation("id: expected " + id);
  const Json* script = fields::optional_member(json, "script", "");
  return script == nullptr ? std::nullopt : std::optional(fields::string(*script, "script"));
}

}  // namespace etalon::spec
