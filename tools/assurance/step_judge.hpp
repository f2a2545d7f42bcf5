/// \file
/// Who judges steps of training: every assignment of the step is computed with its values kept, and held to the interval
/// that its own operands give. It knows no run.
#pragma once

#include "spec/contract/contract.hpp"
#include "training/shadow/computation.hpp"

namespace etalon::assurance {

/// For programs compiled for a device, judged by that contract.
/// \throws SpecViolation for an ill-typed program, Unsupported for what the device does not do; of a step, SpecViolation where an
/// assignment takes too long to judge
[[nodiscard]] training::StepJudgeMaker step_judges(const spec::Contract& contract);

}  // namespace etalon::assurance
