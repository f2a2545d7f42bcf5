/// \file
/// A second trainer of the same run, which computes single steps in another way: on another core of the processor, with
/// vectors of AVX2 where the machine has wider ones. It compares nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/shadow/leaves_judge.hpp"
#include "training/shadow/shadow.hpp"
#include "training/trainer.hpp"

namespace etalon::training {

class Replica {
 public:
  /// \param of the run's own trainer; what a device computes is computed on the same device again
  /// \param judges empty where nobody judges; \throws as Trainer
  Replica(const Trainer& of, const StepJudgeMaker& judges);

  /// What steps are computed on again, `avx2`, or the device's name.
  [[nodiscard]] std::string way() const;
  /// They refer to this.
  [[nodiscard]] OtherWays ways();

 private:
  [[nodiscard]] Computation replay(std::int64_t step, const Named& before);
  [[nodiscard]] JudgedComputation judge(std::int64_t step, const Named& before, const Named* claimed);

  std::shared_ptr<compiled::Device> device_;
  Trainer trainer_;
  std::optional<LeavesJudge> judge_;
};

}  // namespace etalon::training
