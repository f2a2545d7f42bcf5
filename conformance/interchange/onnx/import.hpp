/// \file
/// A model of ONNX as a program of the library's operations. What an operator means there stands in one table of rows
/// (rows.hpp); what is not offered is refused all at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/interchange/onnx/model.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance::onnx {

/// Newer versions of the operators are refused. Of older ones each node is read as its version says, or refused.
inline constexpr std::int64_t last_opset = 23;

struct ImportOptions {
  std::string file = "model.onnx";            ///< in messages and as the source of steps
  std::map<std::string, std::int64_t> dims;   ///< extents that the model's inputs leave open, by their names there
  /// Inputs whose numbers are known in advance, as shapes and axes must be: they are no inputs of the program but constants,
  /// and refused where the model declares another type or other extents.
  std::map<std::string, HostTensor> known;
  std::vector<std::string> outputs;           ///< only these, and what leads to them; none: all
  bool parameters = false;                    ///< initializers of reals are parameters instead of constants
};

/// A program, and how the model's names stand in it; or why there is none.
struct Imported {
  spec::Program program;
  std::map<std::string, HostTensor> parameters;  ///< by their names in the program
  std::map<std::string, std::string> inputs;     ///< the model's names of the program's inputs that are neither constants nor parameters
  std::vector<std::string> outputs;              ///< the model's names, in the order of the program's outputs
  /// One line for each node and value that is not offered, `model.onnx: node 17 "q3" (QLinearConv): …`; where there is
  /// one, there is no program.
  std::vector<std::string> refused;
};

/// Total: whatever the model says, it is a program or refused.
[[nodiscard]] Imported import_model(const Model& model, const ImportOptions& options);

}  // namespace etalon::conformance::onnx
