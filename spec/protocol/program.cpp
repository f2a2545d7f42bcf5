#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/json_depth.hpp"
#include "spec/json_fault.hpp"
#include "spec/program/assignment.hpp"
#include "spec/program/einsum_call.hpp"
#include "spec/program/wishes.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"
#include "spec/quoted.hpp"

namespace etalon::spec {
namespace {

constexpr std::int64_t largest_exact = std::int64_t{1} << 53;

[[nodiscard]] Json integer_to_json(std::int64_t v) {
  if (v >= -largest_exact && v <= largest_exact) return v;
  return std::to_string(v);
}

[[nodiscard]] Json real_to_json(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  return v;
}

[[nodiscard]] std::optional<double> non_finite(const std::string& text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

[[nodiscard]] std::optional<std::int64_t> decimal_string(const std::string& text) {
  std::int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || result.ec != std::errc{} || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

struct ToJson {
  Json operator()(std::int64_t v) const { return integer_to_json(v); }
  Json operator()(double v) const { return real_to_json(v); }
  Json operator()(bool v) const { return v; }
  Json operator()(const std::string& v) const { return v; }
  Json operator()(const std::vector<std::int64_t>& v) const {
    Json list = Json::array();
    for (const std::int64_t x : v) list.push_back(integer_to_json(x));
    return list;
  }
  Json operator()(const std::vector<double>& v) const {
    Json list = Json::array();
    for (const double x : v) list.push_back(real_to_json(x));
    return list;
  }
  Json operator()(const ValueName& v) const { return Json{{"value", v.name}}; }
};

[[nodiscard]] AttributeValue scalar_from_json(const Json& json, const std::string& field) {
  if (json.is_number_integer()) return fields::integer(json, field);
  if (json.is_number_float()) return json.get<double>();
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (const auto value = non_finite(text)) return *value;
    if (const auto value = decimal_string(text)) return *value;
  }
  fields::mismatch(field, "a number", json);
}

[[nodiscard]] AttributeValue list_from_json(const Json& json, const std::string& field) {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  bool all_integers = true;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const AttributeValue item = scalar_from_json(json[i], fields::item(field, i));
    if (const auto* whole = std::get_if<std::int64_t>(&item)) {
      integers.push_back(*whole);
      reals.push_back(static_cast<double>(*whole));
    } else {
      all_integers = false;
      reals.push_back(std::get<double>(item));
    }
  }
  if (all_integers) return integers;
  return reals;
}

[[nodiscard]] Json source_to_json(const Source& source) {
  Json json = {{"file", source.file}, {"line", source.line}};
  if (!source.section.empty()) json["section"] = source.section;
  return json;
}

void add_source(Json& json, const Source& source) {
  if (!(source == Source{})) json["source"] = source_to_json(source);
}

[[nodiscard]] Source source_from_json(const Json& owner, const std::string& field) {
  Source source;
  const Json* json = fields::optional_member(owner, "source", field);
  if (json == nullptr) return source;
  const std::string at = fields::key(field, "source");
  source.file = fields::string(fields::member(*json, "file", at), fields::key(at, "file"));
  const std::int64_t line = fields::integer(fields::member(*json, "line", at), fields::key(at, "line"));
  if (line < 0 || line > UINT32_MAX) throw SpecViolation(at + ".line: expected a line number, found " + std::to_string(line));
  source.line = static_cast<std::uint32_t>(line);
  if (const Json* section = fields::optional_member(*json, "section", at)) source.section = fields::string(*section, fields::key(at, "section"));
  return source;
}

constexpr std::pair<Role, std::string_view> roles[] = {
    {Role::input, "input"}, {Role::parameter, "parameter"}, {Role::constant, "constant"}, {Role::index, "index"}};

[[nodiscard]] Json input_to_json(const Input& input) {
  Json shape = Json::array();
  for (std::size_t axis = 0; axis < input.dims.rank; ++axis) {
    const bool open = axis < input.open.size() && !input.open[axis].empty();
    shape.push_back(open ? Json("?" + input.open[axis]) : Json(input.dims[axis]));
  }
  Json json = {{"name", input.name}, {"dtype", name_of(input.dtype)}, {"shape", std::move(shape)}};
  for (const auto& [role, name] : roles) {
    if (role == input.role && role != Role::input) json["role"] = name;
  }
  if (input.range) json["range"] = {input.range->first, input.range->second};
  if (input.value) json["value"] = tensor_to_json(*input.value);
  add_source(json, input.source);
  return json;
}

[[nodiscard]] Role role_from_json(const Json& json, const std::string& field) {
  const std::string& text = fields::string(json, field);
  for (const auto& [role, name] : roles) {
    if (name == text) return role;
  }
  throw Unsupported(field + ": role '" + as_quoted(text) + "' is not offered");
}

/// Numbers, and `"?n"` for open extents.
void read_shape(const Json& json, const std::string& field, Input& into) {
  Json numbers = Json::array();
  bool any = false;
  std::vector<std::string> open;
  for (const Json& extent : fields::array(json, field)) {
    const bool is_open = extent.is_string() && extent.get_ref<const std::string&>().starts_with('?');
    open.push_back(is_open ? extent.get_ref<const std::string&>().substr(1) : "");
    numbers.push_back(is_open ? Json(0) : extent);
    any = any || is_open;
  }
  into.dims = fields::dims(numbers, field);
  if (any) into.open = std::move(open);
}

[[nodiscard]] Input input_from_json(const Json& json, const std::string& field) {
  Input input;
  input.name = fields::string(fields::member(json, "name", field), fields::key(field, "name"));
  input.dtype = fields::dtype(fields::member(json, "dtype", field), fields::key(field, "dtype"));
  read_shape(fields::member(json, "shape", field), fields::key(field, "shape"), input);
  if (const Json* role = fields::optional_member(json, "role", field)) input.role = role_from_json(*role, fields::key(field, "role"));
  if (const Json* range = fields::optional_member(json, "range", field)) {
    const std::vector<std::int64_t> ends = fields::integers(*range, fields::key(field, "range"));
    if (ends.size() != 2) fields::mismatch(fields::key(field, "range"), "the least and the greatest value", *range);
    input.range = {ends[0], ends[1]};
  }
  if (const Json* value = fields::optional_member(json, "value", field)) input.value = tensor_from_json(*value, fields::key(field, "value"));
  input.source = source_from_json(json, field);
  return input;
}

[[nodiscard]] Json names_to_json(const std::vector<std::optional<std::string>>& names) {
  Json json = Json::array();
  for (const auto& name : names) json.push_back(name ? Json(*name) : Json(nullptr));
  return json;
}

[[nodiscard]] std::vector<std::optional<std::string>> names_from_json(const Json& json, const std::string& field) {
  std::vector<std::optional<std::string>> names;
  for (const Json& name : fields::array(json, field)) {
    names.push_back(name.is_null() ? std::nullopt : std::optional(fields::string(name, fields::item(field, names.size()))));
  }
  return names;
}

[[nodiscard]] Json step_to_json(const Call& call) {
  Json attributes = Json::object();
  for (const auto& [name, value] : call.attributes) attributes[name] = attribute_to_json(value);
  Json json = {{"operation", call.operation}, {"operands", names_to_json(call.operands)}};
  if (!call.packs.empty()) json["packs"] = call.packs;
  json["attributes"] = std::move(attributes);
  json["results"] = call.results;
  add_source(json, call.source);
  return json;
}

[[nodiscard]] Json step_to_json(const Differentiate& step) {
  Json json = {{"derivative", step.mode == Differentiate::Mode::vjp ? "vjp" : "jvp"}, {"of", step.of}, {"wrt", step.wrt}};
  if (!step.seeds.empty()) json["seeds"] = names_to_json(step.seeds);
  json["results"] = step.results;
  add_source(json, step.source);
  return json;
}

[[nodiscard]] Call call_from_json(const Json& json, const std::string& field) {
  Call call;
  call.operation = fields::string(fields::member(json, "operation", field), fields::key(field, "operation"));
  call.operands = names_from_json(fields::member(json, "operands", field), fields::key(field, "operands"));
  if (const Json* packs = fields::optional_member(json, "packs", field)) {
    for (const std::int64_t n : fields::integers(*packs, fields::key(field, "packs"))) {
      if (n < 0) fields::mismatch(fields::key(field, "packs"), "lengths that are not negative", *packs);
      call.packs.push_back(static_cast<std::size_t>(n));
    }
  }
  if (const Json* attributes = fields::optional_member(json, "attributes", field)) {
    const std::string at = fields::key(field, "attributes");
    fields::require_object(*attributes, at);
    for (const auto& [name, value] : attributes->items()) call.attributes[name] = attribute_from_json(value, fields::key(at, name));
  }
  call.results = fields::strings(fields::member(json, "results", field), fields::key(field, "results"));
  call.source = source_from_json(json, field);
  return call;
}

[[nodiscard]] Differentiate derivative_from_json(const Json& json, const std::string& field) {
  Differentiate step;
  const std::string& mode = fields::string(fields::member(json, "derivative", field), fields::key(field, "derivative"));
  if (mode != "vjp" && mode != "jvp") throw Unsupported(field + ".derivative: '" + as_quoted(mode) + "' is not offered");
  step.mode = mode == "vjp" ? Differentiate::Mode::vjp : Differentiate::Mode::jvp;
  step.of = fields::strings(fields::member(json, "of", field), fields::key(field, "of"));
  step.wrt = fields::strings(fields::member(json, "wrt", field), fields::key(field, "wrt"));
  if (const Json* seeds = fields::optional_member(json, "seeds", field)) step.seeds = names_from_json(*seeds, fields::key(field, "seeds"));
  step.results = fields::strings(fields::member(json, "results", field), fields::key(field, "results"));
  step.source = source_from_json(json, field);
  return step;
}

[[nodiscard]] Json step_to_json(const Assign& step) {
  Json json = {{"assign", step.buffer}, {"places", step.places}, {"accumulation", sign_of(step)}, {"value", step.value}};
  if (step.declares) json["declares"] = true;
  add_source(json, step.source);
  return json;
}

[[nodiscard]] Assign assign_from_json(const Json& json, const std::string& field) {
  const auto text = [&](const char* name) { return fields::string(fields::member(json, name, field), fields::key(field, name)); };
  Assign step;
  step.buffer = text("assign");
  step.places = text("places");
  if (!read_sign(text("accumulation"), step)) throw Unsupported(field + ".accumulation: '" + as_quoted(text("accumulation")) + "' is not offered");
  step.value = text("value");
  if (const Json* declares = fields::optional_member(json, "declares", field)) {
    if (!declares->is_boolean()) fields::mismatch(fields::key(field, "declares"), "a truth value", *declares);
    step.declares = declares->get<bool>();
  }
  step.source = source_from_json(json, field);
  return step;
}

[[nodiscard]] Json buffer_to_json(const Buffer& buffer) { return input_to_json({buffer.name, buffer.dtype, buffer.dims, Role::input, {}, {}, buffer.source}); }

[[nodiscard]] Buffer buffer_from_json(const Json& json, const std::string& field) {
  Input read = input_from_json(json, field);
  return {std::move(read.name), read.dtype, read.dims, std::move(read.source)};
}

[[nodiscard]] Update update_from_json(const Json& json, const std::string& field) {
  return {fields::string(fields::member(json, "parameter", field), fields::key(field, "parameter")),
          fields::string(fields::member(json, "value", field), fields::key(field, "value"))};
}

[[nodiscard]] Json wish_to_json(const Wish& wish) {
  Json json = {{"wish", word_of(wish.asked)}, {"value", wish.value}};
  add_source(json, wish.source);
  return json;
}

[[nodiscard]] Wish wish_from_json(const Json& json, const std::string& field) {
  const std::string& word = fields::string(fields::member(json, "wish", field), fields::key(field, "wish"));
  const auto asked = asked_by(word);
  if (!asked) throw Unsupported(fields::key(field, "wish") + ": '" + as_quoted(word) + "' is not offered");
  return {*asked, fields::string(fields::member(json, "value", field), fields::key(field, "value")), source_from_json(json, field)};
}

}  // namespace

Json attribute_to_json(const AttributeValue& value) { return std::visit(ToJson{}, value); }

AttributeValue attribute_from_json(const Json& json, const std::string& field) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_array()) return list_from_json(json, field);
  if (json.is_object()) return ValueName{fields::string(fields::member(json, "value", field), fields::key(field, "value"))};
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (!non_finite(text) && !decimal_string(text)) return text;
  }
  return scalar_from_json(json, field);
}

Json program_to_json(const Program& program) {
  Json inputs = Json::array();
  for (const Input& input : program.inputs) inputs.push_back(input_to_json(input));
  Json calls = Json::array();
  for (const auto& step : program.steps) calls.push_back(std::visit([](const auto& s) { return step_to_json(s); }, step));
  Json json = Json::object();
  if (!program.definitions.empty()) json["definitions"] = program.definitions;
  json["inputs"] = std::move(inputs);
  for (const Buffer& buffer : program.buffers) json["buffers"].push_back(buffer_to_json(buffer));
  json["calls"] = std::move(calls);
  json["outputs"] = program.outputs;
  for (const Update& update : program.updates) json["updates"].push_back({{"parameter", update.parameter}, {"value", update.value}});
  for (const Wish& wish : program.wishes) json["wishes"].push_back(wish_to_json(wish));
  return json;
}

Program program_from_json(const Json& json, const std::string& field) {
  Program program;
  if (const Json* definitions = fields::optional_member(json, "definitions", field))
    program.definitions = fields::strings(*definitions, fields::key(field, "definitions"));
  const std::string inputs = fields::key(field, "inputs");
  for (const Json& input : fields::array(fields::member(json, "inputs", field), inputs))
    program.inputs.push_back(input_from_json(input, fields::item(inputs, program.inputs.size())));
  if (const Json* buffers = fields::optional_member(json, "buffers", field)) {
    const std::string at = fields::key(field, "buffers");
    for (const Json& buffer : fields::array(*buffers, at))
      program.buffers.push_back(buffer_from_json(buffer, fields::item(at, program.buffers.size())));
  }
  const std::string calls = fields::key(field, "calls");
  for (const Json& step : fields::array(fields::member(json, "calls", field), calls)) {
    const std::string at = fields::item(calls, program.steps.size());
    fields::require_object(step, at);
    if (step.contains("assign")) {
      program.steps.emplace_back(assign_from_json(step, at));
    } else if (step.contains("derivative")) {
      program.steps.emplace_back(derivative_from_json(step, at));
    } else {
      Call call = call_from_json(step, at);
      translate_einsum_call(program, call);
      program.steps.emplace_back(std::move(call));
    }
  }
  program.outputs = fields::strings(fields::member(json, "outputs", field), fields::key(field, "outputs"));
  if (const Json* updates = fields::optional_member(json, "updates", field)) {
    const std::string at = fields::key(field, "updates");
    for (const Json& update : fields::array(*updates, at))
      program.updates.push_back(update_from_json(update, fields::item(at, program.updates.size())));
  }
  if (const Json* wishes = fields::optional_member(json, "wishes", field)) {
    const std::string at = fields::key(field, "wishes");
    for (const Json& wish : fields::array(*wishes, at)) program.wishes.push_back(wish_from_json(wish, fields::item(at, program.wishes.size())));
  }
  return program;
}

Json parse_json(std::string_view text, const std::string& what) {
  if (is_too_deep(text)) throw SpecViolation(what + ": more than " + std::to_string(deepest_json) + " arrays and objects in each other");
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw SpecViolation(what + ": " + malformed_json(text, error.byte, error.what()));
  } catch (const Json::exception&) {
    throw SpecViolation(what + ": malformed JSON: a number is out of range");
  }
}

std::string to_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace etalon::spec
