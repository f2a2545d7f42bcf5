#include "training/shadow/replica.hpp"

#include <fmt/format.h>

#include <utility>

#include "compiled/runtime/processor.hpp"
#include "training/shadow/other_core.hpp"

namespace etalon::training {
namespace {

std::shared_ptr<compiled::Device> device_of(const TrainerOptions& how) {
  return how.device != nullptr ? how.device : std::make_shared<compiled::Processor>(compiled::machines::avx2, how.cache);
}

TrainerOptions options_of(TrainerOptions how, std::shared_ptr<compiled::Device> device) {
  how.threads = 1;
  how.devices = 1;
  how.ranks = nullptr;
  how.cache.clear();  // it is the device's
  how.device = std::move(device);
  return how;
}

}  // namespace

Replica::Replica(const Trainer& of, const StepJudgeMaker& judges)
    : device_(device_of(of.options())), trainer_(of.task(), of.rows(), options_of(of.options(), device_)) {
  if (judges) judge_.emplace(trainer_.programs(), trainer_.leaves(), judges, device_);
}

std::string Replica::way() const { return std::string(device_->is_host() ? device_->machine().name : device_->name()); }

OtherWays Replica::ways() {
  OtherWays ways;
  ways.replay = [this](std::int64_t step, const Named& before) { return replay(step, before); };
  if (judge_) ways.judge = [this](std::int64_t step, const Named& before, const Named* claimed) { return judge(step, before, claimed); };
  return ways;
}

Computation Replica::replay(std::int64_t step, const Named& before) {
  Computation computed;
  on_other_core([&] {
    trainer_.state().upload(before, Upload::strict, Part::all);
    computed.outcome = trainer_.compute(step);
    computed.state = trainer_.state().download();
    computed.where = fmt::format("core {}, {}", this_core(), way());
  });
  return computed;
}

JudgedComputation Replica::judge(std::int64_t step, const Named& before, const Named* claimed) {
  JudgedComputation judged;
  on_other_core([&] {
    trainer_.state().upload(before, Upload::strict, Part::all);
    const auto inputs = [&](const spec::Program& program, std::int64_t leaf, const Named& sums) {
      return trainer_.inputs_of(program, step, leaf, sums);
    };
    judged.judgement = (*judge_)(inputs, claimed);
    judged.computation.outcome.outputs = judged.judgement.outputs;
    judged.computation.state = before;
    for (const auto& [name, value] : judged.judgement.updated) judged.computation.state.insert_or_assign(name, value);
    judged.computation.where = fmt::format("core {}, {}, recorded", this_core(), way());
  });
  return judged;
}

}  // namespace etalon::training
