#include "conformance/constant_tensor.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace etalon::conformance {
namespace {

/// The number of an integer type, or of truth values, that is nearest.
[[nodiscard]] std::int64_t nearest(double value, DType dtype) {
  if (dtype == DType::boolean) return value != 0 ? 1 : 0;
  const int bits = dtype == DType::i32 ? 31 : 63;
  const double end = std::ldexp(1.0, bits);
  const std::int64_t greatest = dtype == DType::i32 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
  if (value >= end) return greatest;
  return value <= -end ? -greatest - 1 : static_cast<std::int64_t>(value);
}

}  // namespace

bool ConstantTensor::makes(double value) const {
  return !always || (*always == value && std::signbit(*always) == std::signbit(value));
}

Assignment ConstantTensor::of(const spec::ValueType& type, double value) const {
  Assignment a;
  a.attributes[shape] = std::vector<std::int64_t>(type.dims.begin(), type.dims.end());
  if (!always && kind_of(type.dtype) == Kind::real) a.attributes[number] = value;
  else if (!always) a.attributes[number] = nearest(value, type.dtype);
  a.attributes[dtype] = std::string(name_of(type.dtype));
  return a;
}

std::optional<ConstantTensor> constant_tensor(const spec::Definition& d) {
  if (d.operand_count != 0 || d.result_count != 1 || d.clause_count != 1) return std::nullopt;
  if (d.clauses[0].form != spec::ClauseText::Form::equation) return std::nullopt;
  const spec::NodeText& element = d[d.clauses[0].value];
  ConstantTensor found;
  if (element.form == spec::NodeForm::number) found.always = std::stod(std::string(d.at(element.text)));
  else if (element.form != spec::NodeForm::name) return std::nullopt;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const auto& attribute = d.attributes[i];
    std::string name(d.at(attribute.name));
    if (attribute.kind == spec::AttributeKind::value) found.number = std::move(name);
    else if (attribute.kind == spec::AttributeKind::dtype) found.dtype = std::move(name);
    else if (attribute.row.length != 0) found.shape = std::move(name);
  }
  const std::size_t attributes = found.always ? 2 : 3;
  if (d.attribute_count != attributes || found.shape.empty() || found.number.empty() != found.always.has_value() || found.dtype.empty()) return std::nullopt;
  return found;
}

}  // namespace etalon::conformance
