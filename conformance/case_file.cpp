#include "conformance/case_file.hpp"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "conformance/program_case.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/json_depth.hpp"
#include "spec/json_fault.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/json.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance {
namespace {

using Json = nlohmann::ordered_json;

Json number(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
  return v;
}

double number(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  if (j == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (j == "inf") return std::numeric_limits<double>::infinity();
  if (j == "-inf") return -std::numeric_limits<double>::infinity();
  throw SpecViolation("case: expected a number, found " + j.dump());
}

/// Integers beyond 2^53 are kept, which numbers of a case file's reader may not be.
Json element_json(const HostTensor& t, std::size_t i) {
  if (t.dtype == DType::i64) return t.view<std::int64_t>()[i];
  if (kind_of(t.dtype) != Kind::real) return static_cast<std::int64_t>(element(t, i));
  return number(element(t, i));
}

void set_from_json(HostTensor& t, std::size_t i, const Json& j) {
  if (kind_of(t.dtype) == Kind::real) return set_element(t, i, number(j));
  const bool fits = j.is_number_integer() && !(j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX);
  const std::int64_t v = fits ? j.get<std::int64_t>() : 0;
  const bool in_range = t.dtype == DType::i64 || (t.dtype == DType::boolean ? v == 0 || v == 1 : v >= INT32_MIN && v <= INT32_MAX);
  if (!fits || !in_range) throw SpecViolation("case: expected an element of type " + std::string(name_of(t.dtype)) + ", found " + j.dump());
  if (t.dtype == DType::i64) t.view<std::int64_t>()[i] = v;
  else set_element(t, i, static_cast<double>(v));
}

/// A number that is written as an integer: others have no value as one.
std::int64_t integer(const Json& j) {
  if (!j.is_number_integer()) throw SpecViolation("case: expected an integer, found " + j.dump());
  return j.get<std::int64_t>();
}

/// Extents that so many elements fill.
Dims dims_of(const Json& shape, std::size_t elements) {
  Dims dims;
  std::int64_t count = 1;
  if (!shape.is_array() || shape.size() > Dims::max_rank) throw SpecViolation("case: expected at most 8 extents, found " + shape.dump());
  for (const auto& e : shape) {
    dims.push_back(integer(e));
    const std::int64_t extent = dims[dims.rank - 1];
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) throw SpecViolation("case: no tensor has the shape " + shape.dump());
  }
  if (count != static_cast<std::int64_t>(elements)) throw SpecViolation("case: values do not fill the shape");
  return dims;
}

Json tensor(const std::optional<HostTensor>& t) {
  if (!t) return nullptr;
  Json shape = Json::array();
  for (const std::int64_t e : t->dims) shape.push_back(e);
  Json values = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) values.push_back(element_json(*t, i));
  return {{"dtype", name_of(t->dtype)}, {"shape", shape}, {"values", values}};
}

std::optional<HostTensor> tensor(const Json& j) {
  if (j.is_null()) return std::nullopt;
  const auto dtype = dtype_named(j.at("dtype").get<std::string>());
  if (!dtype) throw SpecViolation("case: unknown dtype " + as_quoted(j.at("dtype").get<std::string>()));
  const Json& values = j.at("values");
  HostTensor t(*dtype, dims_of(j.at("shape"), values.is_array() ? values.size() : 0));
  std::size_t i = 0;
  for (const auto& v : values) set_from_json(t, i++, v);
  return t;
}

struct AttributeToJson {
  Json operator()(const std::vector<double>& list) const {
    Json j = Json::array();
    for (const double v : list) j.push_back(number(v));
    return j;
  }
  Json operator()(double v) const { return number(v); }
  Json operator()(const spec::ValueName& v) const { return {{"value", v.name}}; }
  template <class T>
  Json operator()(const T& v) const {
    return v;
  }
};

Json attributes(const spec::Attributes& all) {
  Json j = Json::object();
  for (const auto& [name, value] : all) j[name] = std::visit(AttributeToJson{}, value);
  return j;
}

spec::AttributeValue attribute(const Json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_number_integer()) return j.get<std::int64_t>();
  if (j.is_number()) return j.get<double>();
  if (j.is_object()) return spec::ValueName{j.at("value").get<std::string>()};
  if (j.is_string()) {
    if (j == "nan" || j == "inf" || j == "-inf") return number(j);
    return j.get<std::string>();
  }
  bool integral = true;
  for (const auto& v : j) integral &= v.is_number_integer();
  if (integral) return j.get<std::vector<std::int64_t>>();
  std::vector<double> list;
  for (const auto& v : j) list.push_back(number(v));
  return list;
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

std::int64_t small(const Json& j, std::int64_t least, std::int64_t most) {
  const std::int64_t value = integer(j);
  if (value < least || value > most) throw SpecViolation("case: expected a layout's number, found " + j.dump());
  return value;
}

std::vector<std::optional<Arrangement>> arrangements(const Json& j) {
  constexpr std::int64_t most = 64;
  std::vector<std::optional<Arrangement>> all;
  for (const auto& a : j) {
    all.emplace_back();
    if (a.is_null()) continue;
    Arrangement& arrangement = all.back().emplace();
    for (const auto& axis : a.at("order"))
      arrangement.order.push_back(static_cast<std::size_t>(small(axis, 0, Dims::max_rank - 1)));
    for (const auto& step : a.at("steps")) arrangement.steps.push_back(small(step, -8, 8));
    arrangement.before = small(a.at("before"), 0, most);
    arrangement.after = small(a.at("after"), 0, most);
  }
  return all;
}

std::vector<std::optional<HostTensor>> tensors(const Json& j) {
  std::vector<std::optional<HostTensor>> all;
  for (const auto& t : j) all.push_back(tensor(t));
  return all;
}

/// The one of these that has the name.
template <class T>
T named(const Json& j, std::initializer_list<T> all, const char* what) {
  for (const T one : all) {
    if (j == name_of(one)) return one;
  }
  throw SpecViolation(std::string("case: no ") + what + " is called " + j.dump());
}

Check check_named(const Json& j) {
  for (std::size_t k = 0; k < check_count; ++k) {
    if (j == name_of(static_cast<Check>(k))) return static_cast<Check>(k);
  }
  throw SpecViolation("case: no check is called " + j.dump());
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

Case case_from_json(std::string_view text, const spec::Library& library) {
  try {
    if (spec::is_too_deep(text)) throw SpecViolation("case: too many arrays and objects in each other");
    const Json j = Json::parse(text);
    Case c;
    c.key = parse_id(j.at("id").get<std::string>(), library);
    c.key.check = check_named(j.at("check"));
    c.mode = named(j.at("mode"), {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp, spec::Mode::jvp_of_vjp}, "mode");
    c.call.operation = j.at("operation").get<std::string>();
    for (const auto& length : j.at("packs")) {
      if (integer(length) < 0) throw SpecViolation("case: expected the length of a pack, found " + length.dump());
      c.call.packs.push_back(static_cast<std::size_t>(integer(length)));
    }
    for (const auto& [name, value] : j.at("attributes").items()) c.call.attributes[name] = attribute(value);
    c.operands = tensors(j.at("operands"));
    for (const auto& t : c.operands) {
      c.call.operands.push_back(t ? std::optional(spec::ValueType{t->dtype, t->dims}) : std::nullopt);
    }
    if (j.contains("wrt")) {
      c.wrt = j.at("wrt").get<std::vector<bool>>();
      c.tangents = tensors(j.at("tangents"));
      c.cotangents = tensors(j.at("cotangents"));
    }
    if (j.contains("cotangent_tangents")) c.cotangent_tangents = tensors(j.at("cotangent_tangents"));
    if (j.contains("layouts")) {
      const Json& layouts = j.at("layouts");
      c.arrangements = {arrangements(layouts.at("operands")), arrangements(layouts.at("tangents")),
                        arrangements(layouts.at("cotangents"))};
    }
    if (j.contains("program")) c.program = program_of(j.at("program"), c);
    const std::int64_t steps = j.contains("steps") ? integer(j.at("steps")) : 1;
    constexpr int most_steps = 1000;
    if (steps < 1 || steps > most_steps) throw SpecViolation("case: expected 1 to 1000 steps, found " + j.at("steps").dump());
    c.steps = static_cast<int>(steps);
    if (c.mode != spec::Mode::forward) check_seeds(c);
    return c;
  } catch (const nlohmann::json::parse_error& error) {
    throw SpecViolation("case: " + malformed_json(text, error.byte, error.what()));
  } catch (const nlohmann::json::exception& error) {
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
