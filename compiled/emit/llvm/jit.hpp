/// \file
/// Machine code from kernels, kept as long as somebody holds it. The only header through which the rest of the backend
/// sees LLVM, and it shows none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <boost/core/noncopyable.hpp>

#include "compiled/emit/code_generator.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/machine/instruction.hpp"
#include "compiled/machine/machine.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

/// A compiled kernel: `operands[i]` is the memory of its i-th argument; runs blocks [begin, end) of its parallel loop, or all of
/// it when it has none. `scratch` is what its plan says that a thread has of its own; it may be null where that is nothing.
using KernelFunction = void (*)(std::byte* const* operands, std::int64_t begin, std::int64_t end, std::byte* scratch);

/// No kernel takes more of a thread's stack, whatever the extents.
inline constexpr std::size_t most_stack_bytes = threshold<std::size_t>("most_stack_bytes");

/// The compiled kernels of one program.
struct Code {
  std::vector<KernelFunction> kernels;
  std::vector<std::int64_t> blocks;   ///< extent of each kernel's parallel loop, in blocks; 1 without one
  std::size_t stack_bytes = 0;        ///< the most that one of them takes of a thread's stack
  std::shared_ptr<void> keep;         ///< the memory of the functions
  bool cached = false;                ///< read from disk instead of generated
};

/// Machine code of one program in the making. The stages after `merge` wait for those of other threads.
class Generation : boost::noncopyable {
 public:
  virtual ~Generation() = default;

  [[nodiscard]] virtual CodeGenerator& stages() = 0;
  /// After `link`. \returns the code
  [[nodiscard]] virtual Code take() = 0;
};

/// A code generator for the machine it runs on. Several threads may use one at the same time.
class Jit : boost::noncopyable {
 public:
  /// \param most leaves out what the host has beyond it, so that code for lesser machines can be run on it; one of `machines::all`. A machine of
  ///   another architecture leaves out nothing
  /// \param cache a folder in which code is kept from one process to the next; empty keeps none (kept_code.hpp)
  explicit Jit(const Machine& most = machines::all.back(), const std::filesystem::path& cache = {});
  ~Jit();

  /// What code is generated for, with the host's caches.
  [[nodiscard]] Machine machine() const;
  /// Whether code for it may use the instruction.
  [[nodiscard]] bool has(const Instruction& i) const;
  /// The instruction as a kernel of its own, whose operands are the memory of the instruction's operands and of its result: where it
  /// gives a result in memory, that holds the operand `old` before.
  /// \param type of T
  /// \param lanes where the meaning leaves their number open
  /// \throws Unsupported where the machine has none
  [[nodiscard]] Code alone(const Instruction& i, DType type, std::int64_t lanes);
  /// `link` throws InternalError for a kernel that takes more than `most_stack_bytes` of stack.
  [[nodiscard]] std::unique_ptr<Generation> begin(Wanted wanted);

 private:
  struct State;
  class Making;
  std::shared_ptr<State> state_;
};

}  // namespace etalon::compiled
