#include "tools/assurance/step_judge.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "tools/assurance/fault_line.hpp"
#include "tools/assurance/recorded.hpp"
#include "tools/log/judge.hpp"

namespace etalon::assurance {
namespace {

using training::Judgement;

/// A program's values recorded and held to their equations.
class Judge {
 public:
  Judge(const spec::Program& program, std::shared_ptr<compiled::Device> device, const spec::Contract& contract)
      : recorded_(program, std::move(device), contract) {}

  Judgement operator()(const std::vector<HostTensor>& inputs, const training::Named* claimed) {
    logging::Log log = recorded_.run(inputs);
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
  Recorded recorded_;
};

}  // namespace

training::StepJudgeMaker step_judges(const spec::Contract& contract) {
  return [contract](const spec::Program& step, std::shared_ptr<compiled::Device> device) -> training::StepJudge {
    auto judge = std::make_shared<Judge>(step, std::move(device), contract);
    return [judge](const std::vector<HostTensor>& inputs, const training::Named* claimed) { return (*judge)(inputs, claimed); };
  };
}

}  // namespace etalon::assurance
