/// \file
/// Extents that a program leaves open, found from the calls that its values take part in. It knows no operation.
#pragma once

#include <map>
#include <string>

#include "spec/program/program.hpp"

namespace etalon::spec {

/// Whether some input has an open extent.
[[nodiscard]] bool has_open_extents(const Program& program);

/// The program with a number for every open extent: the one that the equalities of extents demand, of names in the
/// items of one call's operands, of seeds with what they seed, of updates with their parameters. Other rules are not
/// checked; `verify` does so for the result.
/// \throws SpecViolation naming parameter, extent and call where an extent is not determined.
[[nodiscard]] Program with_extents(Program program);

/// The types of the values of a program that is still being written, by name: as far as its calls determine them, with
/// numbers that stand in for extents that are open still.
/// \throws SpecViolation when a call cannot be typed.
[[nodiscard]] std::map<std::string, ValueType> types_so_far(const Program& program);

}  // namespace etalon::spec
