/// \file
/// Nodes of ONNX that hold a value `y` against a box of admitted values and answer `verdict`, true element by element. The ends
/// of the box are inputs: nothing that they say can be computed before the model runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conformance/interchange/onnx/model.hpp"
#include "conformance/ways.hpp"

namespace etalon::conformance::onnx {

struct VerdictGraph {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, HostTensor>> inputs;
};

/// And(LessOrEqual(lower, y), LessOrEqual(y, upper)), and beside it what else is admitted: infinities as boxes of their own,
/// IsNaN where NaN is, and a mask where nothing is known. Truth values are compared.
/// \param dtype of y
[[nodiscard]] VerdictGraph verdict_graph(const Way& way, DType dtype);

}  // namespace etalon::conformance::onnx
