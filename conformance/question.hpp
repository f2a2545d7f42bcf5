/// \file
/// What the definitions say of a request: the system of equations that answers it in its mode. It knows no backend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/backend.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// One list of tensors that a mode answers with, in the order of the system's outputs.
struct AnswerList {
  std::string name;           ///< outputs, tangents, cotangents, cotangent_tangents
  std::vector<bool> present;  ///< per entry of the list: whether the system has an output for it
  std::size_t first = 0;      ///< the system's output for the first present entry
};

/// The system for a request, its inputs in order (seeds included), and which of its outputs make up which list.
struct Question {
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<AnswerList> lists;
};

/// \throws SpecViolation when the program is ill-typed.
[[nodiscard]] Question question_of(const spec::Request& request);

}  // namespace etalon::conformance
