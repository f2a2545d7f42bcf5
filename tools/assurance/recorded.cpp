#include "tools/assurance/recorded.hpp"

#include <utility>

namespace etalon::assurance {

Recorded::Recorded(spec::Program program, std::shared_ptr<compiled::Device> device, const spec::Contract& contract)
    : program_(std::move(program)), recorder_{"step", contract, [this](const spec::System& system, std::span<const HostTensor> inputs) {
        if (!executable_) executable_ = compiled::compile_system(system, options_);
        return executable_->run(inputs);
      }} {
  options_.device = std::move(device);
}

logging::Log Recorded::run(const std::vector<HostTensor>& inputs) { return logging::record(program_, "step", inputs, {}, recorder_); }

}  // namespace etalon::assurance
