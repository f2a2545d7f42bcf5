#include "conformance/reports/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/number_text.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

/// Long integers and what is no number are strings.
std::string element_text(const Json& j, DType dtype) {
  if (j.is_string()) return j.get<std::string>();
  return j.is_number_integer() ? j.dump() : shortest(j.get<double>(), dtype);
}

// `f32[2, 3] {1, 2, …}`; of a case that passed the type alone is known.
std::string tensor_text(const Json& t) {
  constexpr std::size_t shown = 16;
  if (t.is_string()) return t.get<std::string>();
  const std::string dtype = t.at("dtype").get<std::string>();
  const Json& values = t.at("values");
  std::string text = fmt::format("{}[", dtype);
  for (std::size_t i = 0; i < t.at("shape").size(); ++i) text += (i ? ", " : "") + t.at("shape")[i].dump();
  text += "] {";
  for (std::size_t i = 0; i < std::min(values.size(), shown); ++i)
    text += (i ? ", " : "") + element_text(values[i], dtype_named(dtype).value_or(DType::f64));
  if (values.size() > shown) text += fmt::format(", … {} more", values.size() - shown);
  return text + "}";
}

std::string lines(const Json& c, const std::vector<std::string>& operands) {
  std::string text;
  const Json& given = c.at("operands");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].is_null()) continue;
    const std::string name = given.size() == operands.size() ? operands[i] : fmt::format("operand {}", i);
    text += fmt::format("{} = {}\n", name, tensor_text(given[i]));
  }
  for (const auto& [name, value] : c.at("attributes").items()) text += fmt::format("{} = {}\n", name, value.dump());
  for (const char* list : {"tangents", "cotangents", "cotangent_tangents"}) {
    std::size_t i = 0;
    for (const Json& t : c.value(list, Json::array())) {
      if (!t.is_null()) text += fmt::format("{} {} = {}\n", std::string_view(list).substr(0, std::string_view(list).size() - 1), i, tensor_text(t));
      ++i;
    }
  }
  if (c.contains("steps")) text += fmt::format("steps = {}\n", c.at("steps").dump());
  return text;
}

}  // namespace

std::string inputs_text(const std::string& case_json, const std::vector<std::string>& operands) {
  if (case_json.empty()) return "";
  try {
    return lines(Json::parse(case_json), operands);
  } catch (const nlohmann::json::exception&) {
    constexpr std::size_t longest = 4000;
    return case_json.size() <= longest ? case_json : case_json.substr(0, longest) + "…";
  }
}

}  // namespace etalon::conformance
