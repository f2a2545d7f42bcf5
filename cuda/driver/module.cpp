#ifdef ETALON_HAS_NVRTC

#include "cuda/driver/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "cuda/driver/graph.hpp"

namespace etalon::cuda {

using compiled::Addresses;

DriverModule::DriverModule(const Queue& queue, ModuleText text, const Image& image)
    : queue_(queue), script_(std::move(text.script)), kernels_(queue, image, text.kernels) {}

void DriverModule::one_by_one(const Addresses& at) const {
  for (const compiled::Command& command : script_.commands)
    std::visit([&](const auto& one) { ask(one, at); }, command.does);
}

void DriverModule::ask(const compiled::Launch& launch, const Addresses& at) const {
  const Kernel& kernel = kernels_[launch.kernel];
  Parameters parameters(launch, at);
  queue_.api.check(queue_.api.launch_kernel(kernel.function, kernel.blocks, 1, 1, kernel.threads, 1, 1,
                                            kernel.shared_bytes, queue_.stream, parameters.data(), nullptr),
                   fmt::format("cuLaunchKernel of {}", kernel.name));
}

void DriverModule::ask(const compiled::Fill& fill, const Addresses& at) const {
  queue_.api.check(queue_.api.memset_async(pointer(at.at(fill.memory)), 0, fill.memory.bytes, queue_.stream),
                   fmt::format("cuMemsetD8Async of {} bytes", fill.memory.bytes));
}

void DriverModule::ask(const compiled::Move& move, const Addresses& at) const {
  queue_.api.check(
      queue_.api.memcpy_on_device(pointer(at.at(move.to)), pointer(at.at(move.from)), move.to.bytes, queue_.stream),
      fmt::format("cuMemcpyDtoDAsync of {} bytes", move.to.bytes));
}

class DriverModule::Replaying final : public compiled::Replay {
 public:
  explicit Replaying(const DriverModule& module) : module_(module) {}

  compiled::Event run(const Addresses& at) override {
    module_.queue_.enter();
    if (module_.script_.commands.size() < 2 || !remembers(at)) {
      module_.one_by_one(at);
      return {};
    }
    std::unique_ptr<const Graph>& graph = known_.front().graph;
    if (graph == nullptr) graph = std::make_unique<const Graph>(module_.queue_, module_.kernels_, module_.script_, at);
    graph->launch();
    return {};
  }

 private:
  struct Known {
    std::vector<const std::byte*> addresses;
    std::unique_ptr<const Graph> graph;  ///< none until they come a second time
  };

  /// Whether it has run on these addresses; they are the first of those known from now on, and the last is forgotten.
  [[nodiscard]] bool remembers(const Addresses& at) {
    std::vector<const std::byte*> addresses(at.inputs.begin(), at.inputs.end());
    addresses.insert(addresses.end(), at.outputs.begin(), at.outputs.end());
    addresses.push_back(at.arena);
    const auto found = std::ranges::find(known_, addresses, &Known::addresses);
    const bool is_known = found != known_.end();
    if (is_known) {
      std::rotate(known_.begin(), found, found + 1);
    } else {
      if (known_.size() == remembered_addresses) known_.pop_back();
      known_.insert(known_.begin(), Known{std::move(addresses), nullptr});
    }
    return is_known;
  }

  const DriverModule& module_;
  std::vector<Known> known_;  ///< the last used first
};

std::unique_ptr<compiled::Replay> DriverModule::replay() const { return std::make_unique<Replaying>(*this); }

}  // namespace etalon::cuda

#endif
