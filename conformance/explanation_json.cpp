#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/explanation.hpp"
#include "conformance/mathml.hpp"
#include "conformance/number_text.hpp"
#include "conformance/values.hpp"
#include "spec/protocol/json.hpp"
#include "spec/value_type.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

/// With the fewest digits that are this number of the type; words for what is no number, as in Protocol 1.
[[nodiscard]] Json number(double value, DType dtype) {
  const std::string digits = shortest(value, dtype);
  double read = 0;
  if (!std::isfinite(value) || std::from_chars(digits.data(), digits.data() + digits.size(), read).ec != std::errc()) return digits;
  return read;
}

[[nodiscard]] Json element_of(const HostTensor& tensor, std::size_t i) {
  if (tensor.dtype == DType::boolean) return element(tensor, i) != 0;
  if (tensor.dtype == DType::i64) return tensor.view<std::int64_t>()[i];
  if (tensor.dtype == DType::i32) return tensor.view<std::int32_t>()[i];
  return number(element(tensor, i), tensor.dtype);
}

/// Elements in row-major order.
[[nodiscard]] Json tensor_of(const NamedTensor& tensor) {
  Json elements = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.value.dims.count()); ++i) elements.push_back(element_of(tensor.value, i));
  return {{"name", tensor.name}, {"type", to_string(spec::ValueType{tensor.value.dtype, tensor.value.dims})}, {"elements", elements}};
}

[[nodiscard]] Json tensors_of(const std::vector<NamedTensor>& tensors) {
  Json all = Json::array();
  for (const NamedTensor& tensor : tensors) all.push_back(tensor_of(tensor));
  return all;
}

[[nodiscard]] Json admitted_at(const reference::Envelope& envelope, std::size_t i) {
  const std::uint8_t flags = envelope.flags[i];
  if ((flags & reference::undecided) != 0) return {{"anything", true}};
  Json admitted = Json::object();
  if ((flags & reference::admits_finite) != 0) {
    admitted["lower"] = number(envelope.lower[i], DType::f64);
    admitted["upper"] = number(envelope.upper[i], DType::f64);
  }
  Json also = Json::array();
  if ((flags & reference::admits_positive_infinity) != 0) also.push_back("inf");
  if ((flags & reference::admits_negative_infinity) != 0) also.push_back("-inf");
  if ((flags & reference::admits_nan) != 0) also.push_back("nan");
  if (!also.empty()) admitted["also"] = also;
  return admitted;
}

[[nodiscard]] Json example_of(const Example& example) {
  Json results = Json::array();
  for (std::size_t r = 0; r < example.results.size(); ++r) {
    Json result = tensor_of(example.results[r]);
    Json admitted = Json::array();
    const bool real = kind_of(example.results[r].value.dtype) == Kind::real;
    for (std::size_t i = 0; real && i < example.admitted[r].flags.size(); ++i) admitted.push_back(admitted_at(example.admitted[r], i));
    if (real) result["admitted"] = admitted;
    results.push_back(result);
  }
  Json json{{"operands", tensors_of(example.operands)}, {"results", results}};
  if (!example.has_cotangents) return json;
  json["given"] = tensors_of(example.given);
  json["cotangents"] = tensors_of(example.cotangents);
  return json;
}

[[nodiscard]] Json call_of(const SampleCall& call) {
  Json operands = Json::array();
  for (const auto& operand : call.operands) operands.push_back(operand ? Json(*operand) : Json());
  Json attributes = Json::object();
  for (const auto& [name, value] : call.attributes) attributes[name] = spec::attribute_to_json(value);
  return {{"operands", operands}, {"attributes", attributes}, {"results", call.results}};
}

[[nodiscard]] Json equations_of(const spec::System& system) { return {{"text", to_text(system)}, {"mathml", mathml(system)}}; }

}  // namespace

Json to_json(const Explanation& explanation) {
  Json json{{"name", explanation.name}, {"definition", explanation.definition}, {"dtype", std::string(name_of(explanation.dtype))}};
  if (!explanation.derived) return json;
  const Derived& derived = *explanation.derived;
  json["call"] = call_of(derived.call);
  json["equations"] = equations_of(derived.equations);
  json["jvp"] = derived.jvp ? equations_of(*derived.jvp) : Json();
  json["vjp"] = derived.vjp ? equations_of(*derived.vjp) : Json();
  json["domain"] = derived.domain;
  json["kinks"] = derived.kinks;
  if (explanation.example) json["example"] = example_of(*explanation.example);
  return json;
}

}  // namespace etalon::conformance
