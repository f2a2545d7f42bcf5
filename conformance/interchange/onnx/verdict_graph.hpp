/// \file
/// Nodes of ONNX that hold a value `y` against boxes of admitted values and answer `verdict`: true element by element where there
/// is one box, and one truth value where there are several. The ends of the boxes are inputs: nothing that they say can be
/// computed before the model runs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/interchange/onnx/model.hpp"
#include "conformance/ways.hpp"

namespace etalon::conformance::onnx {

struct VerdictGraph {
  std::vector<Node> nodes;
  std::vector<std::pair<std::string, HostTensor>> inputs;
  Dims verdict{};  ///< its extents
};

/// And(LessOrEqual(lower, y), LessOrEqual(y, upper)), and beside it what else is admitted: infinities as boxes of their own,
/// IsNaN where NaN is, and a mask where nothing is known. Truth values are compared. One of several boxes must hold all of `y`:
/// the smallest truth value of each (as numbers, of which every version of ONNX has the least), joined by Or.
/// \param ways at least one; \param dtype of y
[[nodiscard]] VerdictGraph verdict_graph(std::span<const Way> ways, DType dtype);

}  // namespace etalon::conformance::onnx
