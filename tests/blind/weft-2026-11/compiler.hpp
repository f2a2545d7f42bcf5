/// \file
/// Requests as plans, kept by their signature.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "call.hpp"
#include "plan.hpp"

namespace weft {

/// Tangents or cotangents: which are given, and those that are.
struct Seeds {
  std::vector<bool> there;
  std::vector<Tensor> given;
};

/// A request but for its numbers.
struct Question {
  std::string mode;
  const Json* program = nullptr;
  std::vector<Tensor> inputs;
  std::vector<bool> wrt;
  Seeds tangents, cotangents, cotangent_tangents;
};

struct Compiled {
  Plan plan;
  std::size_t outputs = 0;
  std::vector<bool> further;  ///< which tangents or cotangents follow the outputs
  std::vector<bool> last;     ///< and which tangents of cotangents follow those
};

std::shared_ptr<const Compiled> compiled(const Question& q);

}  // namespace weft
