#include "conformance/isolation/plugin_request.hpp"

#include <map>
#include <utility>

#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

// An address for tensors without elements, which have none of their own.
constexpr double no_elements = 0;

[[nodiscard]] std::int32_t narrow(std::size_t n) { return static_cast<std::int32_t>(n); }

[[nodiscard]] std::int32_t code_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return ETALON_F16;
    case DType::bf16: return ETALON_BF16;
    case DType::f32: return ETALON_F32;
    case DType::f64: return ETALON_F64;
    case DType::i32: return ETALON_I32;
    case DType::i64: return ETALON_I64;
    case DType::boolean: return ETALON_BOOL;
  }
  return -1;
}

}  // namespace

etalon_tensor PluginRequest::tensor(const HostTensor* from, const Places& places, std::size_t i) {
  if (from == nullptr) return {-1, 0, nullptr, nullptr, nullptr};
  std::vector<std::int64_t>& shape = integers_.emplace_back(from->dims.begin(), from->dims.end());
  const void* nowhere = &no_elements;
  if (i < places.size() && places[i] && !from->bytes.empty()) {
    const std::vector<std::int64_t>& strides = integers_.emplace_back(places[i]->strides);
    const HostTensor& buffer = buffers_.emplace_back(spec::buffer_of(*from, *places[i]));
    const std::size_t first = static_cast<std::size_t>(places[i]->offset) * size_of(from->dtype);
    return {code_of(from->dtype), narrow(shape.size()), shape.data(), strides.data(), buffer.bytes.data() + first};
  }
  std::vector<std::int64_t>& strides = integers_.emplace_back(shape.size(), 1);
  for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  const void* data = from->bytes.empty() ? nowhere : from->bytes.data();
  return {code_of(from->dtype), narrow(shape.size()), shape.data(), strides.data(), data};
}

const etalon_tensor* PluginRequest::tensors(const std::vector<std::optional<HostTensor>>& from, const Places& places, std::size_t count) {
  std::vector<etalon_tensor> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back(tensor(i < from.size() && from[i] ? &*from[i] : nullptr, places, i));
  return tensors_.emplace_back(std::move(list)).data();
}

etalon_attribute PluginRequest::attribute(const std::string& name, const spec::AttributeValue& value_of) {
  etalon_attribute a{name.c_str(), ETALON_INTEGER, 1, 0, 0, nullptr, nullptr, nullptr};
  const auto list = [&](int kind, std::vector<double> reals) {
    a.kind = kind;
    a.count = narrow(reals.size());
    a.reals = reals_.emplace_back(std::move(reals)).data();
  };
  if (const auto* integer = std::get_if<std::int64_t>(&value_of)) {
    a.integer = *integer;
    a.real = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value_of)) {
    a.kind = ETALON_REAL;
    a.real = *real;
  } else if (const auto* truth = std::get_if<bool>(&value_of)) {
    a.kind = ETALON_BOOLEAN;
    a.integer = *truth ? 1 : 0;
  } else if (const auto* symbol = std::get_if<std::string>(&value_of)) {
    a.kind = ETALON_SYMBOL;
    a.symbol = symbol->c_str();
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value_of)) {
    list(ETALON_INTEGERS, {integers->begin(), integers->end()});
    a.integers = integers->data();
  } else if (const auto* reals = std::get_if<std::vector<double>>(&value_of)) {
    list(ETALON_REALS, *reals);
  } else {
    a.kind = ETALON_VALUE;
    a.integer = value(std::get<spec::ValueName>(value_of).name);
  }
  return a;
}

std::int32_t PluginRequest::value(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw SpecViolation("program: expected the name of a value, found '" + name + "'");
  return found->second;
}

etalon_call PluginRequest::call(const spec::Call& from) {
  std::vector<std::int32_t>& operands = numbers_.emplace_back();
  for (const auto& name : from.operands) operands.push_back(name ? value(*name) : -1);
  std::vector<std::int32_t>& packs = numbers_.emplace_back();
  for (const std::size_t n : from.packs) packs.push_back(narrow(n));
  std::vector<etalon_attribute> list;
  for (const auto& [name, given] : from.attributes) list.push_back(attribute(name, given));
  const std::vector<etalon_attribute>& attributes = attributes_.emplace_back(std::move(list));
  std::vector<std::int32_t>& results = numbers_.emplace_back();
  for (const std::string& name : from.results) {
    const auto [at, fresh] = values_.emplace(name, narrow(values_.size()));
    if (!fresh) throw SpecViolation("program: '" + name + "' is given twice");
    results.push_back(at->second);
  }
  return {from.operation.c_str(), narrow(operands.size()), operands.data(), narrow(packs.size()), packs.data(),
          narrow(attributes.size()), attributes.data(), narrow(results.size()), results.data()};
}

PluginRequest::PluginRequest(const spec::Request& request) {
  const spec::Program& program = request.program;
  for (const spec::Input& input : program.inputs) {
    if (!values_.emplace(input.name, narrow(values_.size())).second) throw SpecViolation("program: '" + input.name + "' is given twice");
  }
  for (const auto& step : program.steps) {
    const auto* found = std::get_if<spec::Call>(&step);
    if (found == nullptr) throw Unsupported("program: steps that are no calls are not offered to plug-ins");
    calls_.push_back(call(*found));
  }
  std::vector<std::int32_t>& outputs = numbers_.emplace_back();
  for (const std::string& name : program.outputs) outputs.push_back(value(name));
  std::vector<etalon_tensor> inputs;
  const spec::Placements& places = request.placements;
  for (const HostTensor& input : request.inputs) inputs.push_back(tensor(&input, places.inputs, inputs.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i) wrt_.push_back(i < request.wrt.size() && request.wrt[i] ? 1 : 0);
  view_ = {static_cast<std::int32_t>(request.mode), narrow(values_.size()), narrow(inputs.size()), nullptr,
           narrow(calls_.size()), calls_.data(), narrow(outputs.size()), outputs.data(), wrt_.data(),
           tensors(request.tangents, places.tangents, inputs.size()), tensors(request.cotangents, places.cotangents, outputs.size()),
           tensors(request.cotangent_tangents, places.cotangent_tangents, outputs.size())};
  view_.inputs = tensors_.emplace_back(std::move(inputs)).data();
}

}  // namespace etalon::conformance
