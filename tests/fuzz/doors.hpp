/// \file
/// The doors by which a definition comes in, each as a function of a program that calls it: what passes one is computed
/// without a read out of range, or it is refused in one line.
#pragma once

#include "spec/program/program.hpp"

namespace etalon::fuzz {

/// As `etalon check` does. \returns whether it was not refused
[[nodiscard]] bool checked(const spec::Program& program);

/// As a request to `etalon serve`, which must be answered with numbers where `checked` accepts it.
void served(const spec::Program& program);

}  // namespace etalon::fuzz
