/// \file
/// Steps whose recorded values have a flipped bit, judged only where it was flipped: what follows from a wrong number is right.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "tests/assurance/trained.hpp"
#include "tools/assurance/fault_line.hpp"
#include "tools/log/judge.hpp"
#include "tools/log/record.hpp"

namespace etalon::training {

class SpoiledSteps {
 public:
  /// Of the moons.
  explicit SpoiledSteps(std::int64_t epochs)
      : trainer_(moons_trainer(epochs)), recorder_{"test", spec::contract_named("cpu"), [this](const spec::System& system, std::span<const HostTensor> inputs) {
                                                  if (!executable_) executable_ = compiled::compile_system(system);
                                                  return executable_->run(inputs);
                                                }} {}
  SpoiledSteps(const SpoiledSteps&) = delete;
  SpoiledSteps& operator=(const SpoiledSteps&) = delete;

  /// The step with a bit of any element of any real assignment flipped; the judgement has the faults of that assignment alone.
  Judgement judge(std::int64_t step, const Named& before, std::mt19937* random) {
    trainer_.state().upload(before, Upload::strict, Part::all);
    logging::Log log = logging::record(*trainer_.whole_step(), "step", trainer_.inputs_of(step), {}, recorder_);
    const spec::System& system = log.meaning.system;
    const std::vector<spec::TensorId> all = logging::selected(system, {});
    std::vector<std::pair<spec::TensorId, std::size_t>> elements;
    for (const spec::TensorId t : all) {
      if (system[t].dtype != DType::f32) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(system[t].dims.count()); ++i) elements.emplace_back(t, i);
    }
    const auto [t, i] = elements[std::uniform_int_distribution<std::size_t>(0, elements.size() - 1)(*random)];
    const unsigned bit = std::uniform_int_distribution<unsigned>(0, 31)(*random);
    HostTensor& value = *log.values[static_cast<std::size_t>(t)];
    value.bytes[4 * i + bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const std::string element = logging::element_name(system[t].name, system[t].dims, i);
    Judgement judgement;
    const logging::Judged judged = logging::judge(log);
    judgement.elements = judged.elements;
    for (const logging::Fault& fault : judged.faults) {
      if (fault.element == element) judgement.faults.push_back(assurance::fault_line(log.meaning.program, fault));
    }
    return judgement;
  }

 private:
  Trainer trainer_;
  logging::Recorder recorder_;
  std::optional<compiled::Executable> executable_;
};

}  // namespace etalon::training
