/// \file
/// Requests as plans, kept by their signature.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "call.hpp"
#include "plan.hpp"

namespace blind {

/// A request but for its numbers.
struct Question {
  std::string mode;
  const Json* program = nullptr;
  std::vector<Tensor> inputs;
  std::vector<bool> wrt;
  std::vector<bool> seeded;   ///< which tangents or cotangents are given
  std::vector<Tensor> seeds;  ///< those that are
};

struct Compiled {
  Plan plan;
  std::size_t outputs = 0;
  std::vector<bool> further;  ///< which tangents or cotangents follow the outputs
};

std::shared_ptr<const Compiled> compiled(const Question& q);

}  // namespace blind
