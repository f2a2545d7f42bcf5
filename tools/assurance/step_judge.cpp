#include "tools/assurance/step_judge.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "compiled/runtime/executable.hpp"
#include "tools/assurance/fault_line.hpp"
#include "tools/log/judge.hpp"
#include "tools/log/record.hpp"

namespace etalon::assurance {
namespace {

using training::Judgement;

/// A program, and the code that keeps every value of it: compiled at the first step, since that is the same system each time.
class Judge {
 public:
  Judge(const spec::Program& program, std::shared_ptr<compiled::Device> device, const spec::Contract& contract)
      : program_(program), recorder_{"step", contract, [this](const spec::System& system, std::span<const HostTensor> inputs) {
          if (!executable_) executable_ = compiled::compile_system(system, options_);
          return executable_->run(inputs);
        }} {
    options_.device = std::move(device);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  Judgement operator()(const std::vector<HostTensor>& inputs, const training::Named* claimed) {
    logging::Log log = logging::record(program_, "step", inputs, {}, recorder_);
    Judgement judgement;
    const spec::System& system = log.meaning.system;
    const std::vector<spec::Update> updates = spec::all_updates(log.meaning.program);
    const std::vector<std::string>& outputs = log.meaning.program.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) judgement.outputs.emplace_back(outputs[i], *log.value(system.outputs[i]));
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const spec::TensorId written = system.outputs[outputs.size() + i];
      judgement.updated.insert_or_assign(updates[i].parameter, *log.value(written));
      auto& held = log.values[static_cast<std::size_t>(written)];
      if (claimed != nullptr && held) held = claimed->at(updates[i].parameter);
    }
    const logging::Judged judged = logging::judge(log);
    judgement.elements = judged.elements;
    judgement.undecided = judged.undecided;
    for (const logging::Fault& fault : judged.faults) judgement.faults.push_back(fault_line(log.meaning.program, fault));
    return judgement;
  }

 private:
  spec::Program program_;
  compiled::CompileOptions options_;
  logging::Recorder recorder_;
  std::optional<compiled::Executable> executable_;
};

}  // namespace

training::StepJudgeMaker step_judges(const spec::Contract& contract) {
  return [contract](const spec::Program& step, std::shared_ptr<compiled::Device> device) -> training::StepJudge {
    auto judge = std::make_shared<Judge>(step, std::move(device), contract);
    return [judge](const std::vector<HostTensor>& inputs, const training::Named* claimed) { return (*judge)(inputs, claimed); };
  };
}

}  // namespace etalon::assurance
