/// \file
/// What one computation of a step gave, and how it may be checked. It computes nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"
#include "training/model/parameters.hpp"
#include "training/outcome.hpp"

namespace etalon::compiled {
class Device;
}

namespace etalon::training {

/// A step computed once.
struct Computation {
  Outcome outcome;
  Named state;        ///< after it
  std::string where;  ///< `core 1, avx2`
};

/// What was found when each assignment of a program was computed with its values kept, and each held to the interval that
/// its own operands and the contract give.
struct Judgement {
  NamedValues outputs{};            ///< as recorded, in the program's order
  Named updated{};                  ///< what the program's updates write, as recorded
  std::size_t elements = 0;         ///< that were compared with a bound
  std::size_t undecided = 0;        ///< of them, those for which the bound says nothing
  std::vector<std::string> faults{};  ///< a line for each assignment outside: element, found, admitted, operands
};

/// Holds a step to its program. \param inputs of the program, in order \param claimed null, or a state that the step is said
/// to have come to: its values take the place of what the updates wrote, and are judged
using StepJudge = std::function<Judgement(const std::vector<HostTensor>& inputs, const Named* claimed)>;

/// Makes who judges the steps of a program, which are computed on that device.
using StepJudgeMaker = std::function<StepJudge(const spec::Program& step, std::shared_ptr<compiled::Device> device)>;

/// A computation of which all assignments were judged.
struct JudgedComputation {
  Computation computation{};
  Judgement judgement{};
};

/// The first element in which two states differ, with both numbers: `w1[3, 2] is 0.25, computed again 0.5`. Empty where they
/// have the same bits.
[[nodiscard]] std::string first_difference(const Named& a, const Named& b);

}  // namespace etalon::training
