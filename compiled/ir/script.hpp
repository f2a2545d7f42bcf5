/// \file
/// What the host does to run a program: kernels in order, zeros and copies between them, and what waits for what. It knows
/// neither LLVM nor CUDA, and no address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// A stretch of memory: bytes [offset, offset + bytes) of an input, an output or the arena.
struct Memory {
  enum class Of : std::uint8_t { input, output, arena };
  Of of = Of::arena;
  std::size_t index = 0;  ///< among the system's inputs or outputs; 0 for the arena
  std::size_t offset = 0;
  std::size_t bytes = 0;
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// Whether two stretches have a byte in common.
[[nodiscard]] bool overlap(const Memory& a, const Memory& b);

/// Whether two tensors may have: where they lie outside of kernels, or where one takes over the other's memory in one.
[[nodiscard]] bool share_memory(const Plan& plan, TensorId a, TensorId b);

/// A tensor that a kernel is given.
struct Operand {
  TensorId tensor = -1;
  Memory memory;
  bool read = false;
  bool written = false;
};

/// Runs a kernel.
struct Launch {
  std::size_t kernel = 0;  ///< of the plan
  std::vector<Operand> operands;
  std::optional<Scratch> scratch{};  ///< memory of its own, in the arena
};

/// Fills memory with zeros.
struct Fill {
  Memory memory;
};

/// Copies all bytes of one stretch to another of the same size.
struct Move {
  Memory from;
  Memory to;
};

struct Command {
  std::variant<Launch, Fill, Move> does;
  /// Commands that come first, by number, ascending: those that follow from others are left out.
  std::vector<std::size_t> after{};
};

/// Commands in an order that can run. Two of them may run at the same time where neither comes after the other.
struct Script {
  std::vector<Command> commands;
  std::vector<std::optional<Memory>> memories;  ///< of each tensor of the system; nothing where kernels alone know it
  std::size_t arena_bytes = 0;
};

/// Memory that a command touches.
struct Use {
  Memory memory;
  bool read = false;
  bool written = false;
};

/// Of a launch: its operands in their order, then what it has of its own; of a move: from, then to.
[[nodiscard]] std::vector<Use> memory_used(const Command& command);

/// \param nests one per kernel of the plan
[[nodiscard]] Script script_of(const spec::System& system, const Plan& plan, const std::vector<loops::Nest>& nests);

/// Checks that commands stay within the arena, that those which touch a byte that one of them writes wait for each other, and
/// that everything that is read is an input or was written before.
/// \throws InternalError naming the command and the rule.
void verify(const spec::System& system, const Script& script);

/// Readable text: one line per command with its memory and what it waits for.
[[nodiscard]] std::string to_text(const spec::System& system, const Script& script);

}  // namespace etalon::compiled
