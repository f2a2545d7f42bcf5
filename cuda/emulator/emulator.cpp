#include "cuda/emulator/emulator.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

#include "cuda/grid.hpp"
#include "cuda/text_builder.hpp"
#include "spec/error.hpp"

namespace etalon::cuda::emulator {

using compiled::Addresses;
using compiled::Command;
using compiled::Script;

namespace {

constexpr const char* named = "device cuda-emulated";

/// What is done when each command begins.
Order order_of(const Script& script) {
  Order before(script.commands.size(), std::vector<bool>(script.commands.size()));
  for (std::size_t n = 0; n < before.size(); ++n) {
    for (const std::size_t a : script.commands[n].after) {
      before[n][a] = true;
      for (std::size_t earlier = 0; earlier < a; ++earlier) before[n][earlier] = before[n][earlier] || before[a][earlier];
    }
  }
  return before;
}

/// Some order in which each command comes after those that it waits for.
std::vector<std::size_t> drawn_order(const Script& script, std::mt19937_64& draw) {
  std::vector<std::size_t> order, ready;
  std::vector<bool> listed(script.commands.size()), done(script.commands.size());
  while (order.size() < listed.size()) {
    for (std::size_t n = 0; n < listed.size(); ++n) {
      if (listed[n] || !std::ranges::all_of(script.commands[n].after, [&](std::size_t before) { return done[before]; })) continue;
      ready.push_back(n);
      listed[n] = true;
    }
    std::swap(ready[draw() % ready.size()], ready.back());
    order.push_back(ready.back());
    done[ready.back()] = true;
    ready.pop_back();
  }
  return order;
}

Extent extent_of(const Grid& grid) {
  Extent extent;
  extent.blocks.x = static_cast<std::uint32_t>(grid.blocks);
  extent.threads.x = static_cast<std::uint32_t>(grid.threads);
  extent.shared_bytes = static_cast<std::size_t>(grid.shared_bytes);
  return extent;
}

}  // namespace

class Emulator::EmulatedModule final : public compiled::Module {
 public:
  EmulatedModule(Emulator& device, ModuleText text, std::shared_ptr<Code> code) : device_(device), text_(std::move(text)), code_(std::move(code)) {}
  [[nodiscard]] std::unique_ptr<compiled::Replay> replay() const override;
  [[nodiscard]] std::size_t arena_bytes() const override { return text_.script.arena_bytes; }

  /// What it runs, which is compiled by now. Once the caller has the lock.
  [[nodiscard]] const Object& object() const { return device_.compiled(*code_); }

  /// Once memory is open and the object is there.
  void run(const Addresses& at) const {
    if (at.arena != nullptr) std::fill_n(at.arena, text_.script.arena_bytes, poison);
    for (std::size_t o = 0; o < at.outputs.size(); ++o) {
      if (at.outputs[o] != nullptr) std::fill_n(at.outputs[o], text_.output_bytes[o], poison);
    }
    Races* const races = device_.course_.races.get();
    if (races != nullptr) watch(*races, at);
    for (const std::size_t n : drawn_order(text_.script, device_.course_.draw)) {
      if (races != nullptr) races->begin_command(n);
      std::visit([&](const auto& one) { does(one, at); }, text_.script.commands[n].does);
    }
    if (races != nullptr && races->found()) throw DeviceError(to_text(*races, *races->found()));
  }
  [[nodiscard]] Emulator& device() const { return device_; }

 private:
  void watch(Races& races, const Addresses& at) const {
    std::vector<std::string> names;
    for (const Command& command : text_.script.commands) {
      const auto* launch = std::get_if<compiled::Launch>(&command.does);
      names.push_back(launch == nullptr ? std::string("the host") : text_.kernels[launch->kernel].name);
    }
    races.begin(order_of(text_.script), std::move(names));
    const auto watched = [&](const std::byte* address) {
      if (address == nullptr) return;
      const std::span<std::byte> block = device_.memory_.block_of(address);
      races.watch(block.data(), block.size());
    };
    std::ranges::for_each(at.inputs, watched);
    std::ranges::for_each(at.outputs, watched);
    watched(at.arena);
  }
  void touched_by_host(const std::byte* begin, std::size_t bytes, bool writes) const {
    if (device_.course_.races != nullptr) device_.course_.races->touch_all(begin, bytes, writes);
  }

  void does(const compiled::Launch& launch, const Addresses& at) const {
    std::vector<std::byte*> operands;
    std::vector<void*> values;
    for (const compiled::Operand& o : launch.operands) operands.push_back(at.at(o.memory));
    for (std::byte*& operand : operands) values.push_back(&operand);
    const KernelEntry& kernel = text_.kernels[launch.kernel];
    code_->object->launch(kernel.name, extent_of(kernel.grid), values.data(), device_.course_);
  }
  void does(const compiled::Fill& fill, const Addresses& at) const {
    touched_by_host(at.at(fill.memory), fill.memory.bytes, true);
    std::memset(at.at(fill.memory), 0, fill.memory.bytes);
  }
  void does(const compiled::Move& move, const Addresses& at) const {
    touched_by_host(at.at(move.from), move.from.bytes, false);
    touched_by_host(at.at(move.to), move.to.bytes, true);
    std::memcpy(at.at(move.to), at.at(move.from), move.to.bytes);
  }

  Emulator& device_;
  ModuleText text_;
  std::shared_ptr<Code> code_;
};

class Emulator::EmulatedReplay final : public compiled::Replay {
 public:
  explicit EmulatedReplay(const EmulatedModule& module) : module_(module) {}
  compiled::Event run(const Addresses& addresses) override {
    Emulator& device = module_.device();
    const std::lock_guard lock(device.mutex_);
    return compiled::naming(named, [&] {
      std::vector<const std::byte*> touched(addresses.inputs.begin(), addresses.inputs.end());
      touched.insert(touched.end(), addresses.outputs.begin(), addresses.outputs.end());
      touched.push_back(addresses.arena);
      std::erase(touched, nullptr);
      (void)module_.object();  // while memory is closed to all
      const Memory::Open open(device.memory_, touched);
      module_.run(addresses);
      return compiled::Event{};
    });
  }

 private:
  const EmulatedModule& module_;
};

std::unique_ptr<compiled::Replay> Emulator::EmulatedModule::replay() const { return std::make_unique<EmulatedReplay>(*this); }

Emulator::Emulator(std::uint64_t seed, compiled::source::CCompiler compiler) : compiler_(std::move(compiler)), course_(seed) {}

Emulator::Emulator(LookingForRaces, std::uint64_t seed) : Emulator(seed, telling_compiler()) { course_.races = std::make_unique<Races>(); }

compiled::Machine Emulator::machine() const { return cuda::machine; }

std::unique_ptr<compiled::ModuleBuilder> Emulator::build(const compiled::Wanted&) {
  return std::make_unique<TextBuilder>([this](ModuleText module) {
    std::shared_ptr<Code> code = code_of(module.text);
    return std::make_unique<const EmulatedModule>(*this, std::move(module), std::move(code));
  });
}

std::shared_ptr<Emulator::Code> Emulator::code_of(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto other = replaced_.find(text);
  const std::string& own = other == replaced_.end() ? text : other->second;
  std::weak_ptr<Code>& known = codes_[own];
  std::shared_ptr<Code> code = known.lock();
  if (code != nullptr) return code;
  code = std::make_shared<Code>(Code{own, nullptr});
  known = code;
  waiting_.push_back(code);
  return code;
}

void Emulator::compile_waiting() {
  std::vector<std::shared_ptr<Code>> together;
  std::vector<std::string> texts;
  for (const std::weak_ptr<Code>& one : std::exchange(waiting_, {})) {
    std::shared_ptr<Code> code = one.lock();
    if (code == nullptr || code->object != nullptr) continue;
    texts.push_back(code->text);
    together.push_back(std::move(code));
  }
  std::erase_if(codes_, [](const auto& known) { return known.second.expired(); });
  ++compilations_;
  const std::vector<std::shared_ptr<const Object>> objects = compile(texts, compiler_);
  for (std::size_t n = 0; n < together.size(); ++n) together[n]->object = objects[n];
}

const Object& Emulator::compiled(Code& code) {
  if (code.object == nullptr && waiting_.size() > 1) {
    try {
      compile_waiting();
    } catch (const std::exception&) {
      // One of them is to blame: each is compiled by itself from now on.
    }
  }
  if (code.object == nullptr) {
    ++compilations_;
    code.object = compile({&code.text, 1}, compiler_).front();
  }
  return *code.object;
}

void Emulator::replace(const std::string& text, const std::string& other) {
  const std::lock_guard lock(mutex_);
  replaced_.insert_or_assign(text, other);
}

std::byte* Emulator::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return compiled::naming(named, [&] { return memory_.allocate(bytes); });
}

void Emulator::release(std::byte* memory) noexcept {
  const std::lock_guard lock(mutex_);
  memory_.release(memory);
}

void Emulator::upload(std::byte* to, std::span<const std::byte> from) {
  const std::lock_guard lock(mutex_);
  compiled::naming(named, [&] {
    const Memory::Open open(memory_, {to});
    std::ranges::copy(from, to);
  });
}

void Emulator::download(std::span<std::byte> to, const std::byte* from) {
  const std::lock_guard lock(mutex_);
  compiled::naming(named, [&] {
    const Memory::Open open(memory_, {from});
    std::copy_n(from, to.size(), to.begin());
  });
}

}  // namespace etalon::cuda::emulator
