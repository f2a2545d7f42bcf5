/// \file
/// Steps whose recorded values have a flipped bit, judged only where it was flipped: what follows from a wrong number is right.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "tests/assurance/trained.hpp"
#include "tools/assurance/fault_line.hpp"
#include "tools/log/judge.hpp"
#include "tools/log/record.hpp"
#include "training/shadow/leaves_judge.hpp"

namespace etalon::training {

/// A program of a step, recorded.
class SpoiledProgram {
 public:
  explicit SpoiledProgram(spec::Program program)
      : program_(std::move(program)), recorder_{"test", spec::contract_named("cpu"), [this](const spec::System& system, std::span<const HostTensor> inputs) {
          if (!executable_) executable_ = compiled::compile_system(system);
          return executable_->run(inputs);
        }} {}
  SpoiledProgram(const SpoiledProgram&) = delete;
  SpoiledProgram& operator=(const SpoiledProgram&) = delete;

  /// With a bit of any element of any real assignment flipped, where there is `random`: then the faults are of that assignment
  /// alone, and else there are none. What the step came to is what it comes to without.
  Judgement judge(const std::vector<HostTensor>& inputs, std::mt19937* random) {
    logging::Log log = logging::record(program_, "step", inputs, {}, recorder_);
    Judgement judgement;
    const std::vector<spec::Update> updates = spec::all_updates(log.meaning.program);
    const std::vector<std::string>& outputs = log.meaning.program.outputs;
    const std::vector<spec::TensorId>& written = log.meaning.system.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) judgement.outputs.emplace_back(outputs[i], *log.value(written[i]));
    for (std::size_t i = 0; i < updates.size(); ++i) {
      judgement.updated.insert_or_assign(updates[i].parameter, *log.value(written[outputs.size() + i]));
    }
    if (random == nullptr) return judgement;
    const std::string element = spoil(log, *random);
    const logging::Judged judged = logging::judge(log);
    judgement.elements = judged.elements;
    for (const logging::Fault& fault : judged.faults) {
      if (fault.element == element) judgement.faults.push_back(assurance::fault_line(log.meaning.program, fault));
    }
    return judgement;
  }

 private:
  /// Flips a bit. The element's name.
  static std::string spoil(logging::Log& log, std::mt19937& random) {
    const spec::System& system = log.meaning.system;
    std::vector<std::pair<spec::TensorId, std::size_t>> elements;
    for (const spec::TensorId t : logging::selected(system, {})) {
      if (system[t].dtype != DType::f32) continue;
      for (std::size_t i = 0; i < static_cast<std::size_t>(system[t].dims.count()); ++i) elements.emplace_back(t, i);
    }
    const auto [t, i] = elements[std::uniform_int_distribution<std::size_t>(0, elements.size() - 1)(random)];
    const unsigned bit = std::uniform_int_distribution<unsigned>(0, 31)(random);
    HostTensor& value = *log.values[static_cast<std::size_t>(t)];
    value.bytes[4 * i + bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    return logging::element_name(system[t].name, system[t].dims, i);
  }

  spec::Program program_;
  logging::Recorder recorder_;
  std::optional<compiled::Executable> executable_;
};

/// Steps of the moons, of which a drawn part is spoiled: the step, or a leaf, the sums of the leaves or the update.
class SpoiledSteps {
 public:
  explicit SpoiledSteps(std::int64_t epochs, std::int64_t grain = 0)
      : trainer_(moons_trainer(epochs, grain)), judge_(trainer_.programs(), trainer_.leaves(), maker(), nullptr) {}
  SpoiledSteps(const SpoiledSteps&) = delete;
  SpoiledSteps& operator=(const SpoiledSteps&) = delete;

  Judgement judge(std::int64_t step, const Named& before, std::mt19937* random) {
    trainer_.state().upload(before, Upload::strict, Part::all);
    random_ = random;
    const std::int64_t parts = trainer_.leaves() == 1 ? 1 : trainer_.leaves() + 2;
    spoiled_ = parts == 1 ? 0 : std::uniform_int_distribution<std::int64_t>(0, parts - 1)(*random);
    part_ = 0;
    const auto inputs = [&](const spec::Program& program, std::int64_t leaf, const Named& sums) {
      return trainer_.inputs_of(program, step, leaf, sums);
    };
    return judge_(inputs, nullptr);
  }

 private:
  StepJudgeMaker maker() {
    return [this](const spec::Program& program, const std::shared_ptr<compiled::Device>&) -> StepJudge {
      const auto spoiling = std::make_shared<SpoiledProgram>(program);
      return [this, spoiling](const std::vector<HostTensor>& inputs, const Named*) {
        return spoiling->judge(inputs, part_++ == spoiled_ ? random_ : nullptr);
      };
    };
  }

  Trainer trainer_;
  std::mt19937* random_ = nullptr;
  std::int64_t spoiled_ = 0, part_ = 0;
  LeavesJudge judge_;
};

}  // namespace etalon::training
