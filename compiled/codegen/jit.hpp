/// \file
/// Machine code from kernels, kept as long as somebody holds it. The only header through which the rest of the backend
/// sees LLVM, and it shows none of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiled/codegen/sleef.hpp"
#include "compiled/loops/nest.hpp"
#include "compiled/schedule/machine.hpp"

namespace etalon::compiled {

/// A compiled kernel: `operands[i]` is the memory of its i-th operand; runs blocks [begin, end) of its parallel loop, or all of
/// it when it has none. `scratch` is what its plan says that a thread has of its own; it may be null where that is nothing.
using KernelFunction = void (*)(std::byte* const* operands, std::int64_t begin, std::int64_t end, std::byte* scratch);

/// No kernel takes more of a thread's stack, whatever the extents.
inline constexpr std::size_t most_stack_bytes = std::size_t{64} << 10;

/// Where the loops of a program stand as text.
struct Source;

/// The compiled kernels of one program.
struct Code {
  std::vector<KernelFunction> kernels;
  std::vector<std::vector<spec::TensorId>> operands;  ///< of each kernel
  std::vector<std::int64_t> blocks;   ///< extent of each kernel's parallel loop, in blocks; 1 without one
  std::size_t stack_bytes = 0;        ///< the most that one of them takes of a thread's stack
  std::shared_ptr<void> keep;         ///< the memory of the functions
  bool cached = false;                ///< read from disk instead of generated
  std::vector<std::pair<std::string, double>> stages;  ///< seconds
};

/// A code generator for the machine it runs on. Several threads may use one at the same time.
class Jit {
 public:
  /// \param most leaves out what the host has beyond it, so that code for lesser machines can be run on it
  /// \param cache a folder in which code is kept from one process to the next; empty keeps none (object_cache.hpp)
  explicit Jit(VectorLevel most = VectorLevel::avx512, const std::filesystem::path& cache = {});
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// What code is generated for.
  [[nodiscard]] Machine machine() const;
  /// `dump` gets ("llvm", the intermediate code) when given, and ("asm", the assembly) where that is asked for too. With a
  /// source the code carries the lines of its listing and the debugger gdb is told of it; function number i is `kernel_i`.
  /// Its numbers are the same.
  /// \throws InternalError for a kernel that takes more than `most_stack_bytes` of stack.
  [[nodiscard]] Code generate(const spec::System& system, const std::vector<loops::Nest>& nests,
                              const std::function<void(std::string_view, const std::string&)>& dump = {}, bool assembly = false,
                              const Source* source = nullptr);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace etalon::compiled
