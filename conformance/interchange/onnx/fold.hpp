/// \file
/// Nodes whose operands are known integers, as exporters compute shapes and axes by: their results are known too. They are
/// computed by the rows themselves, on the reference.
#pragma once

#include <cstdint>
#include <optional>

#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {

/// The results of a node, or nothing where it is for the program to compute them: an operand is not known in every run, is
/// no integer, or is large; a result is real.
/// \throws Refused, SpecViolation as the row does
[[nodiscard]] std::optional<Values> folded(const Row& row, const Node& node, std::int64_t opset, const Values& operands);

}  // namespace etalon::conformance::onnx
