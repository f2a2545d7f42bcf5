/// \file
/// Whether values fit the inputs of a program, before anything is computed or written.
#pragma once

#include <span>

#include "spec/program/program.hpp"

namespace etalon::spec {

/// Checks that there is one value per input in order, of its type, indices inside their ranges.
/// \throws SpecViolation naming the first input that does not fit: expected, found.
void verify_inputs(const Program& program, std::span<const HostTensor> values);

}  // namespace etalon::spec
