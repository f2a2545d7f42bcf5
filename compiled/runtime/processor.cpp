#include "compiled/runtime/processor.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "compiled/machine/thresholds.hpp"
#include "compiled/runtime/host_memory.hpp"
#include "compiled/runtime/kernels.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// A script on memory, command by command. Where operands are is found once for the same memory.
class ProcessorReplay final : public Replay {
 public:
  ProcessorReplay(const Kernels& kernels, const Script& script) : kernels_(kernels), script_(script), operands_(script.commands.size()) {}

  Event run(const Addresses& addresses) override {
    if (!stands(addresses)) place(addresses);
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      std::visit([&](const auto& one) { does(one, operands_[n].data()); }, script_.commands[n].does);
    }
    return {};
  }

 private:
  [[nodiscard]] bool stands(const Addresses& a) const {
    return std::ranges::equal(a.inputs, inputs_) && std::ranges::equal(a.outputs, outputs_) && a.arena == arena_;
  }

  void place(const Addresses& addresses) {
    constexpr auto line = threshold<std::uintptr_t>("line_bytes");
    for (const std::byte* output : addresses.outputs) {
      // Vectors that go around the caches cannot be stored elsewhere.
      if (std::bit_cast<std::uintptr_t>(output) % line != 0) throw InternalError("run: an output does not begin a cache line");
    }
    inputs_.assign(addresses.inputs.begin(), addresses.inputs.end());
    outputs_.assign(addresses.outputs.begin(), addresses.outputs.end());
    arena_ = addresses.arena;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      operands_[n].clear();
      for (const Use& use : memory_used(script_.commands[n])) operands_[n].push_back(addresses.at(use.memory));
    }
  }

  void does(const Launch& launch, std::byte* const* operands) const { kernels_.launch(launch, operands, arena_); }
  void does(const Fill& fill, std::byte* const* at) const { std::memset(at[0], 0, fill.memory.bytes); }
  void does(const Move& move, std::byte* const* at) const { std::memcpy(at[1], at[0], move.to.bytes); }

  const Kernels& kernels_;
  const Script& script_;
  std::vector<std::byte*> inputs_;  ///< what the operands below were found for
  std::vector<std::byte*> outputs_;
  std::byte* arena_ = nullptr;
  std::vector<std::vector<std::byte*>> operands_;  ///< of each command
};

class ProcessorModule final : public Module {
 public:
  ProcessorModule(Code code, const Compilation& made) : kernels_(std::move(code), made), script_(made.script) {}
  [[nodiscard]] std::unique_ptr<Replay> replay() const override { return std::make_unique<ProcessorReplay>(kernels_, script_); }
  [[nodiscard]] const Kernels& kernels() const { return kernels_; }

 private:
  Kernels kernels_;
  Script script_;
};

class ProcessorBuilder final : public ModuleBuilder {
 public:
  explicit ProcessorBuilder(std::unique_ptr<Generation> generation) : generation_(std::move(generation)) {}
  [[nodiscard]] CodeGenerator& generator() override { return generation_->stages(); }
  [[nodiscard]] std::unique_ptr<const Module> load(const Compilation& made, Report& report) override {
    auto loaded = std::make_unique<const ProcessorModule>(generation_->take(), made);
    loaded->kernels().add_to(report);
    return loaded;
  }

 private:
  std::unique_ptr<Generation> generation_;
};

}  // namespace

std::unique_ptr<ModuleBuilder> Processor::build(const Wanted& wanted) { return std::make_unique<ProcessorBuilder>(jit_.begin(wanted)); }

std::byte* Processor::allocate(std::size_t bytes) {
  // The compiler leaves more memory than many a program needs. Asking takes a while, which small programs would notice.
  if (bytes >= threshold<std::size_t>("much_memory")) give_back_spare_memory();
  return allocate_on_host(bytes);
}

void Processor::release(std::byte* memory) noexcept { release_on_host(memory); }

void Processor::upload(std::byte* to, std::span<const std::byte> from) { std::ranges::copy(from, to); }
void Processor::download(std::span<std::byte> to, const std::byte* from) { std::copy_n(from, to.size(), to.begin()); }

}  // namespace etalon::compiled
