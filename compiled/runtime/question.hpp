/// \file
/// What a request of the backends' interface asks, as one system with its inputs, and its answer from the outputs. It computes
/// nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/backend.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// What a request asks, with the derivative as a system of its own.
struct Question {
  spec::System primal;
  spec::System system;
  std::vector<HostTensor> inputs;
  std::vector<std::size_t> wrt;
};

/// \throws SpecViolation where the request is ill-formed.
[[nodiscard]] Question question_of(const spec::Request& request);

/// The system of the program's outputs, without its updates. \throws SpecViolation for an ill-typed program.
[[nodiscard]] spec::System outputs_of(const spec::Program& program);

/// Sorts the outputs of the question's system into those of the answer.
[[nodiscard]] spec::Numbers numbers_of(const Question& q, spec::Mode mode, std::vector<HostTensor> all);

/// A hash under which equal systems are equal.
[[nodiscard]] std::size_t hash_of(const spec::System& system);
/// Whether both mean the same and would give the same code.
[[nodiscard]] bool same(const spec::System& a, const spec::System& b);

}  // namespace etalon::compiled
