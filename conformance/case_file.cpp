#include "conformance/case_file.hpp"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "conformance/values.hpp"
#include "spec/error.hpp"

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
  return j == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

Json tensor(const std::optional<HostTensor>& t) {
  if (!t) return nullptr;
  Json shape = Json::array();
  for (const std::int64_t e : t->dims) shape.push_back(e);
  Json values = Json::array();
  const bool integral = kind_of(t->dtype) != Kind::real;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) {
    const double v = element(*t, i);
    if (integral) {
      values.push_back(static_cast<std::int64_t>(v));
    } else {
      values.push_back(number(v));
    }
  }
  return {{"dtype", name_of(t->dtype)}, {"shape", shape}, {"values", values}};
}

std::optional<HostTensor> tensor(const Json& j) {
  if (j.is_null()) return std::nullopt;
  Dims dims;
  for (const auto& e : j.at("shape")) dims.push_back(e.get<std::int64_t>());
  const auto dtype = dtype_named(j.at("dtype").get<std::string>());
  if (!dtype) throw SpecViolation("case: unknown dtype " + j.at("dtype").get<std::string>());
  HostTensor t(*dtype, dims);
  if (static_cast<std::int64_t>(j.at("values").size()) != dims.count())
    throw SpecViolation("case: values do not fill the shape");
  std::size_t i = 0;
  for (const auto& v : j.at("values")) set_element(t, i++, number(v));
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

std::vector<std::optional<HostTensor>> tensors(const Json& j) {
  std::vector<std::optional<HostTensor>> all;
  for (const auto& t : j) all.push_back(tensor(t));
  return all;
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
  if (c.steps != 1) j["steps"] = c.steps;
  return j.dump();
}

Case case_from_json(std::string_view text, const spec::Library& library) {
  try {
    const Json j = Json::parse(text);
    Case c;
    c.key = parse_id(j.at("id").get<std::string>(), library);
    for (std::size_t k = 0; k < check_count; ++k) {
      if (j.at("check") == name_of(static_cast<Check>(k))) c.key.check = static_cast<Check>(k);
    }
    for (const auto mode : {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp}) {
      if (j.at("mode") == name_of(mode)) c.mode = mode;
    }
    c.call.operation = j.at("operation").get<std::string>();
    c.call.packs = j.at("packs").get<std::vector<std::size_t>>();
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
    c.steps = j.value("steps", 1);
    return c;
  } catch (const nlohmann::json::parse_error& error) {
    throw SpecViolation("case: malformed JSON at byte " + std::to_string(error.byte));
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
  if (!c.call.packs.empty()) j["packs"] = c.call.packs;
  return j.dump();
}

}  // namespace etalon::conformance
