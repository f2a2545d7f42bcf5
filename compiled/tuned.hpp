/// \file
/// Where decisions that were found by measuring are kept: one file per program and machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/machine/machine.hpp"
#include "spec/program/program.hpp"

namespace etalon::compiled {

/// The file of a program's decisions on a machine like this one, whether it exists or not. \param folder of the cache
[[nodiscard]] std::filesystem::path tuned_file(const std::filesystem::path& folder, const spec::Program& program, const Machine& machine);

/// What was found. \throws SpecViolation where nothing was yet, with the command that finds it.
[[nodiscard]] std::vector<DecisionLine> tuned_decisions(const std::filesystem::path& folder, const spec::Program& program, const Machine& machine);

}  // namespace etalon::compiled
