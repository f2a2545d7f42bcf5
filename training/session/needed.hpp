/// \file
/// The part of a program that some of its values need.
#pragma once

#include <set>
#include <string>

#include "spec/program/program.hpp"

namespace etalon::training {

/// The program with what its outputs and updates do not need left out: steps and inputs. It has no assignments.
[[nodiscard]] spec::Program needed(spec::Program program);

/// The values that depend on `roots`, these included.
[[nodiscard]] std::set<std::string> dependent(const spec::Program& program, std::set<std::string> roots);

}  // namespace etalon::training
