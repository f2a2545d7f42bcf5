/// \file
/// Who judges a step, whatever its leaves: one program, or each leaf's, what the leaves' results add up to, and the update. It
/// knows no device and no bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "training/leaves/tree_sum.hpp"
#include "training/shadow/computation.hpp"

namespace etalon::training {

/// Parts of a step, judged one after the other.
class LeavesJudge {
 public:
  /// \param programs as step_programs \param leaves of a step \throws as the maker
  LeavesJudge(std::vector<spec::Program> programs, std::int64_t leaves, const StepJudgeMaker& judges,
              const std::shared_ptr<compiled::Device>& device);

  /// The inputs of a program of the step. \param leaf 0 for other programs \param sums inputs of the update besides
  using Inputs = std::function<std::vector<HostTensor>(const spec::Program&, std::int64_t leaf, const Named& sums)>;
  /// \param claimed as StepJudge
  [[nodiscard]] Judgement operator()(const Inputs& inputs, const Named* claimed) const;

 private:
  [[nodiscard]] Named sums(const Inputs& inputs, Judgement& all) const;

  std::vector<spec::Program> programs_;
  std::int64_t leaves_;
  StepJudge first_, of_sums_, update_;
};

}  // namespace etalon::training
