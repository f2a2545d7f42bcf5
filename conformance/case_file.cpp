#include "conformance/case_file.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "conformance/program_case.hpp"
#include "conformance/values.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
namespace fields = spec::fields;

/// As in Protocol 1, but with elements that people can read in place of bytes.
Json tensor(const std::optional<HostTensor>& t) {
  if (!t) return nullptr;
  Json values = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) {
    const std::int64_t whole = t->dtype == DType::i64 ? t->view<std::int64_t>()[i] : 0;
    const bool real = kind_of(t->dtype) == Kind::real;
    values.push_back(spec::attribute_to_json(real ? spec::AttributeValue(element(*t, i))
                                                  : t->dtype == DType::i64 ? whole : static_cast<std::int64_t>(element(*t, i))));
  }
  return {{"dtype", name_of(t->dtype)}, {"shape", std::vector<std::int64_t>(t->dims.begin(), t->dims.end())}, {"values", values}};
}

void set_from_json(HostTensor& t, std::size_t i, const Json& j, const std::string& field) {
  const spec::AttributeValue value = spec::attribute_from_json(j, field);
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (kind_of(t.dtype) == Kind::real) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr && whole == nullptr) fields::mismatch(field, "a number", j);
    return set_element(t, i, number != nullptr ? *number : static_cast<double>(*whole));
  }
  const bool fits = whole != nullptr && (t.dtype == DType::i64 || (t.dtype == DType::boolean ? *whole == 0 || *whole == 1 : *whole >= INT32_MIN && *whole <= INT32_MAX));
  if (!fits) fields::mismatch(field, "an element of type " + std::string(name_of(t.dtype)), j);
  if (t.dtype == DType::i64) t.view<std::int64_t>()[i] = *whole;
  else set_element(t, i, static_cast<double>(*whole));
}

std::optional<HostTensor> tensor(const Json& j, const std::string& field) {
  if (j.is_null()) return std::nullopt;
  const DType dtype = fields::dtype(fields::member(j, "dtype", field), fields::key(field, "dtype"));
  const Dims dims = fields::dims(fields::member(j, "shape", field), fields::key(field, "shape"));
  const Json& values = fields::array(fields::member(j, "values", field), fields::key(field, "values"));
  std::int64_t count = 1;
  for (const std::int64_t extent : dims) {
    if (__builtin_mul_overflow(count, extent, &count)) fields::mismatch(fields::key(field, "shape"), "the shape of a tensor", j.at("shape"));
  }
  if (count != static_cast<std::int64_t>(values.size())) fields::mismatch(fields::key(field, "values"), std::to_string(count) + " elements", values);
  HostTensor t(dtype, dims);
  for (std::size_t i = 0; i < values.size(); ++i) set_from_json(t, i, values[i], fields::item(fields::key(field, "values"), i));
  return t;
}

Json attributes(const spec::Attributes& all) {
  Json j = Json::object();
  for (const auto& [name, value] : all) j[name] = spec::attribute_to_json(value);
  return j;
}

Json tensors(const std::vector<std::optional<HostTensor>>& all) {
  Json j = Json::array();
  for (const auto& t : all) j.push_back(tensor(t));
  return j;
}

Json arrangements(const std::vector<std::optional<Arrangement>>& all) {
  Json j = Json::array();
  for (const auto& a : all) {
    if (a) {
      j.push_back({{"order", a->order}, {"steps", a->steps}, {"before", a->before}, {"after", a->after}});
    } else {
      j.push_back(nullptr);
    }
  }
  return j;
}

std::int64_t between(std::int64_t least, std::int64_t most, const Json& j, const std::string& field) {
  const std::int64_t value = fields::integer(j, field);
  if (value < least || value > most) fields::mismatch(field, "an integer from " + std::to_string(least) + " to " + std::to_string(most), j);
  return value;
}

std::vector<std::optional<Arrangement>> arrangements(const Json& layouts, const char* list) {
  constexpr std::int64_t most = 64;
  const std::string field = fields::key("layouts", list);
  std::vector<std::optional<Arrangement>> all;
  for (const Json& a : fields::array(fields::member(layouts, list, "layouts"), field)) {
    const std::string at = fields::item(field, all.size());
    all.emplace_back();
    if (a.is_null()) continue;
    Arrangement& arrangement = all.back().emplace();
    for (const Json& axis : fields::array(fields::member(a, "order", at), at))
      arrangement.order.push_back(static_cast<std::size_t>(between(0, Dims::max_rank - 1, axis, at)));
    for (const Json& step : fields::array(fields::member(a, "steps", at), at)) arrangement.steps.push_back(between(-8, 8, step, at));
    arrangement.before = between(0, most, fields::member(a, "before", at), at);
    arrangement.after = between(0, most, fields::member(a, "after", at), at);
  }
  return all;
}

std::vector<std::optional<HostTensor>> tensors(const Json& c, const char* list) {
  std::vector<std::optional<HostTensor>> all;
  for (const Json& t : fields::array(fields::member(c, list, ""), list)) all.push_back(tensor(t, fields::item(list, all.size())));
  return all;
}

/// The value of the enumeration that the field names.
template <class E, std::size_t n>
E named(const std::array<std::string_view, n>& names, const Json& c, const char* field) {
  return enumerator_or_throw<E>(names, fields::string(fields::member(c, field, ""), field), field);
}

/// Calls alone, on operands that fit.
spec::Program program_of(const Json& j, const Case& c) {
  spec::Program program = spec::program_from_json(j, "program");
  spec::verify(program);
  spec::verify_inputs(program, present(c));
  for (const auto& step : program.steps) {
    if (!std::holds_alternative<spec::Call>(step)) throw SpecViolation("case: a program of calls expected");
  }
  return program;
}

bool fits(const std::optional<HostTensor>& seed, const spec::ValueType& type) {
  return !seed || (seed->dtype == type.dtype && seed->dims == type.dims && kind_of(type.dtype) == Kind::real);
}

/// One mark and one tangent per input, one cotangent per result, each of its type.
void check_seeds(const Case& c) {
  std::vector<spec::ValueType> inputs;
  for (const auto& type : c.call.operands) {
    if (type) inputs.push_back(*type);
  }
  const std::vector<spec::ValueType> results = result_types(c);
  const bool second = c.mode == spec::Mode::jvp_of_vjp;
  bool right = c.cotangent_tangents.size() == (second ? results.size() : 0) && c.wrt.size() == inputs.size() && c.tangents.size() == inputs.size() && c.cotangents.size() == results.size();
  for (std::size_t i = 0; right && i < inputs.size(); ++i)
    right = fits(c.tangents[i], inputs[i]) && (!c.wrt[i] || kind_of(inputs[i].dtype) == Kind::real);
  for (std::size_t r = 0; right && r < results.size(); ++r)
    right = fits(c.cotangents[r], results[r]) && (!second || fits(c.cotangent_tangents[r], results[r]));
  if (!right) throw SpecViolation("case: expected one mark and one tangent per real operand, one cotangent per real result");
}

}  // namespace

std::string to_json(const Case& c) {
  Json j{{"id", id_of(c.key)},
         {"check", name_of(c.key.check)},
         {"mode", name_of(c.mode)},
         {"operation", c.call.operation},
         {"attributes", attributes(c.call.attributes)},
         {"packs", c.call.packs},
         {"operands", tensors(c.operands)}};
  if (c.mode != spec::Mode::forward) {
    j["wrt"] = c.wrt;
    j["tangents"] = tensors(c.tangents);
    j["cotangents"] = tensors(c.cotangents);
  }
  if (c.mode == spec::Mode::jvp_of_vjp) j["cotangent_tangents"] = tensors(c.cotangent_tangents);
  if (c.key.check == Check::layout) {
    j["layouts"] = {{"operands", arrangements(c.arrangements.operands)},
                    {"tangents", arrangements(c.arrangements.tangents)},
                    {"cotangents", arrangements(c.arrangements.cotangents)}};
  }
  if (c.program) j["program"] = spec::program_to_json(*c.program);
  if (c.steps != 1) j["steps"] = c.steps;
  return j.dump();
}

namespace {

Case case_of(const Json& j, const spec::Library& library) {
  Case c;
  c.key = parse_id(fields::string(fields::member(j, "id", ""), "id"), library);
  c.key.check = named<Check>(check_names, j, "check");
  c.mode = named<spec::Mode>(spec::mode_names, j, "mode");
  c.call.operation = fields::string(fields::member(j, "operation", ""), "operation");
  for (const std::int64_t length : fields::integers(fields::member(j, "packs", ""), "packs")) {
    if (length < 0) fields::mismatch("packs", "lengths that are not negative", j.at("packs"));
    c.call.packs.push_back(static_cast<std::size_t>(length));
  }
  const Json& given = fields::member(j, "attributes", "");
  fields::require_object(given, "attributes");
  for (const auto& [name, value] : given.items()) c.call.attributes[name] = spec::attribute_from_json(value, fields::key("attributes", name));
  c.operands = tensors(j, "operands");
  for (const auto& t : c.operands) c.call.operands.push_back(t ? std::optional(spec::ValueType{t->dtype, t->dims}) : std::nullopt);
  if (const Json* wrt = fields::optional_member(j, "wrt", "")) {
    for (const Json& mark : fields::array(*wrt, "wrt")) c.wrt.push_back(fields::boolean(mark, "wrt"));
    c.tangents = tensors(j, "tangents");
    c.cotangents = tensors(j, "cotangents");
  }
  if (j.contains("cotangent_tangents")) c.cotangent_tangents = tensors(j, "cotangent_tangents");
  if (const Json* layouts = fields::optional_member(j, "layouts", ""))
    c.arrangements = {arrangements(*layouts, "operands"), arrangements(*layouts, "tangents"), arrangements(*layouts, "cotangents")};
  if (const Json* program = fields::optional_member(j, "program", "")) c.program = program_of(*program, c);
  constexpr int most_steps = 1000;
  if (const Json* steps = fields::optional_member(j, "steps", "")) c.steps = static_cast<int>(between(1, most_steps, *steps, "steps"));
  if (c.mode != spec::Mode::forward) check_seeds(c);
  return c;
}

}  // namespace

Case case_from_json(std::string_view text, const spec::Library& library) {
  try {
    return case_of(spec::parse_json(text, "case"), library);
  } catch (const Unsupported& error) {
    throw SpecViolation(std::string("case: ") + error.what());
  }
}

std::string summary_json(const Case& c) {
  Json operands = Json::array();
  for (const auto& type : c.call.operands) {
    if (type) {
      operands.push_back(std::string(name_of(type->dtype)) + to_string(type->dims));
    } else {
      operands.push_back(nullptr);
    }
  }
  Json j{{"operands", operands}, {"attributes", attributes(c.call.attributes)}};
  if (c.program) j["calls"] = operations_of(*c.program);
  if (!c.call.packs.empty()) j["packs"] = c.call.packs;
  return j.dump();
}

}  // namespace etalon::conformance
