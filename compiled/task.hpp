/// \file
/// What a program asks of the compiler, and what comes of it before code is made: the same for every kind of code. It
/// knows neither LLVM nor a source language.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiled/executable.hpp"
#include "compiled/loops/nest.hpp"
#include "compiled/plan/plan.hpp"
#include "compiled/schedule/kept.hpp"
#include "compiled/schedule/machine.hpp"
#include "spec/program/program.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

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

/// The inputs that may lie in panels.
struct Kept {
  std::vector<KeptInput> inputs;
  std::optional<std::vector<std::optional<Panels>>> given;  ///< how each lies; nothing: it is chosen
};

/// A system as far as loops; `nests[k]` is kernel k of the plan.
struct Lowered {
  spec::System system;  ///< passes and schedules applied
  Plan plan;
  std::vector<loops::Nest> nests;
  std::vector<KeptLayout> kept;                        ///< one per kept input, as it lies
  std::vector<ValueReport> values;                     ///< with options.explain or a dump
  double passes_seconds = 0;                           ///< all but the lowering to loops
  std::vector<std::pair<std::string, double>> stages;  ///< seconds of each pass and stage, in order
};

/// Passes, layouts, schedules, plan and loops as the options say, for a machine; dumps "layouts", "values", "plan" and "loops" where
/// options.dump is set.
[[nodiscard]] Lowered lower_to_loops(spec::System system, const std::vector<PlanOptions::Update>& updates,
                                     const CompileOptions& options, const Machine& machine, const Kept& kept = {});

}  // namespace etalon::compiled
