#include "tests/compiled/far_device.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "compiled/runtime/kernels.hpp"
#include "spec/error.hpp"

namespace etalon::test {

using compiled::Addresses;
using compiled::Command;
using compiled::Script;

namespace {

/// Every byte of it set, a real number is NaN.
constexpr int poison = 0xFF;

void run_command(const compiled::Kernels& kernels, const Command& command, const Addresses& at) {
  if (const auto* fill = std::get_if<compiled::Fill>(&command.does)) {
    std::memset(at.at(fill->memory), 0, fill->memory.bytes);
  } else if (const auto* move = std::get_if<compiled::Move>(&command.does)) {
    std::memcpy(at.at(move->to), at.at(move->from), move->to.bytes);
  } else {
    const auto& launch = std::get<compiled::Launch>(command.does);
    std::vector<std::byte*> operands;
    for (const compiled::Operand& o : launch.operands) operands.push_back(at.at(o.memory));
    kernels.launch(launch, operands.data(), at.arena);
  }
}

/// Some order in which each command comes after those that it waits for.
std::vector<std::size_t> drawn_order(const Script& script, std::mt19937& draw) {
  std::vector<std::size_t> order, ready;
  std::vector<bool> listed(script.commands.size());
  while (order.size() < listed.size()) {
    for (std::size_t n = 0; n < listed.size(); ++n) {
      const auto is_done = [&](std::size_t b) { return std::ranges::find(order, b) != order.end(); };
      if (listed[n] || !std::ranges::all_of(script.commands[n].after, is_done)) continue;
      ready.push_back(n);
      listed[n] = true;
    }
    std::swap(ready[draw() % ready.size()], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
  }
  return order;
}

}  // namespace

/// What a script that is still to run needs of its module.
struct FarDevice::Loaded {
  compiled::Kernels kernels;
  Script script;
};

class FarDevice::FarReplay final : public compiled::Replay {
 public:
  FarReplay(FarDevice& device, std::shared_ptr<const Loaded> loaded) : device_(device), loaded_(std::move(loaded)) {}

  compiled::Event run(const Addresses& addresses) override {
    device_.call("script");
    return {device_.later([&device = device_, loaded = loaded_, in = std::vector(addresses.inputs.begin(), addresses.inputs.end()),
                           out = std::vector(addresses.outputs.begin(), addresses.outputs.end()), arena = addresses.arena] {
      ++device.counts_.scripts;
      for (const std::size_t n : drawn_order(loaded->script, device.draw_)) run_command(loaded->kernels, loaded->script.commands[n], {in, out, arena});
    })};
  }

 private:
  FarDevice& device_;
  std::shared_ptr<const Loaded> loaded_;
};

class FarDevice::FarModule final : public compiled::Module {
 public:
  FarModule(FarDevice& device, compiled::Code code, const compiled::Compilation& made)
      : device_(device), loaded_(std::make_shared<const Loaded>(Loaded{compiled::Kernels(std::move(code), made), made.script})) {}
  [[nodiscard]] std::unique_ptr<compiled::Replay> replay() const override { return std::make_unique<FarReplay>(device_, loaded_); }

 private:
  FarDevice& device_;
  std::shared_ptr<const Loaded> loaded_;
};

class FarDevice::FarBuilder final : public compiled::ModuleBuilder {
 public:
  FarBuilder(FarDevice& device, std::unique_ptr<compiled::Generation> generation) : device_(device), generation_(std::move(generation)) {}
  [[nodiscard]] compiled::CodeGenerator& generator() override { return generation_->stages(); }
  [[nodiscard]] std::unique_ptr<const compiled::Module> load(const compiled::Compilation& made, compiled::Report&) override {
    device_.call("load");
    return std::make_unique<const FarModule>(device_, generation_->take(), made);
  }

 private:
  FarDevice& device_;
  std::unique_ptr<compiled::Generation> generation_;
};

FarDevice::~FarDevice() {
  for (const auto& [memory, bytes] : blocks_) munmap(memory, bytes);
}

std::size_t FarDevice::blocks() {
  work_until(done_ + waiting_.size());
  return blocks_.size();
}

void FarDevice::call(const std::string& what) {
  if (!fails_in_) return;
  if (*fails_in_ > 0) {
    --*fails_in_;
    return;
  }
  fails_in_.reset();
  throw DeviceError("device " + name_ + ": " + what + " failed");
}

std::uint64_t FarDevice::later(std::function<void()> work) {
  waiting_.push_back(std::move(work));
  return done_ + waiting_.size();
}

void FarDevice::work_until(std::uint64_t number) {
  protect(false);
  for (; done_ < number && !waiting_.empty(); ++done_) {
    waiting_.front()();
    waiting_.pop_front();
  }
  protect(true);
}

void FarDevice::protect(bool closed) const {
  for (const auto& [memory, bytes] : blocks_) {
    if (mprotect(memory, bytes, closed ? PROT_NONE : PROT_READ | PROT_WRITE) != 0) throw std::runtime_error("far device: mprotect");
  }
}

std::unique_ptr<compiled::ModuleBuilder> FarDevice::build(const compiled::Wanted& wanted) {
  call("build");
  return std::make_unique<FarBuilder>(*this, jit_.begin(wanted));
}

std::byte* FarDevice::allocate(std::size_t bytes) {
  if (bytes == 0) throw std::logic_error("far device: no bytes are asked for");
  call("allocation of " + std::to_string(bytes) + " bytes");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  std::memset(memory, poison, bytes);
  if (mprotect(memory, bytes, PROT_NONE) != 0) throw std::runtime_error("far device: mprotect");
  blocks_.emplace(static_cast<std::byte*>(memory), bytes);
  return static_cast<std::byte*>(memory);
}

void FarDevice::release(std::byte* memory) noexcept {
  (void)later([this, memory] {
    const auto found = blocks_.find(memory);
    munmap(memory, found->second);
    blocks_.erase(found);
  });
}

void FarDevice::upload(std::byte* to, std::span<const std::byte> from) {
  call("upload of " + std::to_string(from.size()) + " bytes");
  counts_.uploaded += from.size();
  (void)later([to, bytes = std::vector(from.begin(), from.end())] { std::memcpy(to, bytes.data(), bytes.size()); });
}

void FarDevice::download(std::span<std::byte> to, const std::byte* from) {
  call("download of " + std::to_string(to.size()) + " bytes");
  counts_.downloaded += to.size();
  work_until(later([to, from] { std::memcpy(to.data(), from, to.size()); }));
}

void FarDevice::wait(compiled::Event event) {
  call("wait");
  work_until(event.number);
}

}  // namespace etalon::test
