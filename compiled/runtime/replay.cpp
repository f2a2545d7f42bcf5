#include "compiled/runtime/replay.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "compiled/machine/thresholds.hpp"
#include "compiled/runtime/spare_memory.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// A kernel on part of its range, in the form that the pool calls.
struct Call {
  KernelFunction function;
  std::byte* const* operands;
  std::byte* scratch;         ///< of slot 0; the others follow
  std::size_t scratch_bytes;  ///< of each
};

void call_part(void* context, std::int64_t begin, std::int64_t end, std::size_t slot) {
  const Call& call = *static_cast<const Call*>(context);
  call.function(call.operands, begin, end, call.scratch + slot * call.scratch_bytes);
}

void reserve(Buffer& arena, std::size_t bytes) {
  // The compiler leaves more memory than many a program needs. Asking takes a while, which small programs would notice.
  if (bytes >= threshold<std::size_t>("much_memory")) give_back_spare_memory();
  if (bytes <= arena.size()) return;
  arena = Buffer();
  arena = Buffer(bytes);
}

}  // namespace

Replay::Replay(const Unit& unit, Buffer& arena) : unit_(&unit), arena_(&arena) {
  reserve(arena, unit.script().arena_bytes);
  for (std::size_t k = 0; k < unit.kernels(); ++k) operands_.emplace_back(unit.kernel(k).operands.size());
}

void Replay::place(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  if (std::ranges::equal(inputs, inputs_) && std::ranges::equal(outputs, outputs_) && arena_->data() == arena_at_) return;
  for (const std::byte* output : outputs) {
    // Vectors that go around the caches cannot be stored elsewhere.
    if (std::bit_cast<std::uintptr_t>(output) % threshold<std::uintptr_t>("line_bytes") != 0) throw InternalError("run: an output does not begin a cache line");
  }
  inputs_.assign(inputs.begin(), inputs.end());
  outputs_.assign(outputs.begin(), outputs.end());
  arena_at_ = arena_->data();
  for (std::size_t k = 0; k < operands_.size(); ++k) {
    std::ranges::transform(unit_->kernel(k).operands, operands_[k].begin(), [&](const Memory& m) { return at(m); });
  }
}

std::byte* Replay::at(const Memory& memory) const {
  switch (memory.of) {
    case Memory::Of::input: return inputs_[memory.index];
    case Memory::Of::output: return outputs_[memory.index];
    case Memory::Of::arena: break;
  }
  return arena_->data() + memory.offset;
}

void Replay::does(const Launch& launch) {
  const Unit::Kernel& kernel = unit_->kernel(launch.kernel);
  const Scratch scratch = launch.scratch.value_or(Scratch{});
  Call call{kernel.function, operands_[launch.kernel].data(), arena_->data() + scratch.offset, scratch.bytes};
  if (kernel.shared && unit_->pool() != nullptr) {
    unit_->pool()->run(kernel.blocks, call_part, &call);
  } else {
    call_part(&call, 0, kernel.blocks, 0);
  }
}

void Replay::does(const Fill& fill) { std::memset(at(fill.memory), 0, fill.memory.bytes); }

void Replay::does(const Move& move) { std::memcpy(at(move.to), at(move.from), move.to.bytes); }

void Replay::run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs) {
  place(inputs, outputs);
  for (const Command& command : unit_->script().commands) std::visit([&](const auto& one) { does(one); }, command.does);
}

}  // namespace etalon::compiled
