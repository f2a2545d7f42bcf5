/// \file
/// What a program asks of the compiler: one system, and what its inputs and outputs are to the caller. It knows no stage.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiled/ir/plan.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A value that a program asks to keep, and its position among the outputs of its system.
struct Captured {
  std::string name;
  std::size_t output = 0;
};

/// A system with what the program says of its inputs and outputs.
struct Task {
  spec::System system;
  std::vector<spec::Input> inputs;
  std::size_t outputs = 0;  ///< the first outputs of the system are the program's, then those that are captured besides, then the values of updates
  std::vector<Captured> captured{};
  std::vector<PlanOptions::Update> updates;
};

/// \throws SpecViolation for an ill-typed program.
[[nodiscard]] Task task_of(const spec::Program& program);
/// A bare system: its inputs are plain inputs and it has no updates.
[[nodiscard]] Task task_of(const spec::System& system);

}  // namespace etalon::compiled
