/// \file
/// Kernels in CUDA C++ as code of this process: compiled by the host's compiler and run thread by thread. It knows no program and no
/// device's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiled/emit/text/c_compiler.hpp"
#include "cuda/emulator/races.hpp"
#include "cuda/emulator/stacks.hpp"
#include "cuda/emulator/thread_state.hpp"

namespace etalon::cuda::emulator {

/// What texts are compiled with: C++ with fused multiplication where the text says so and nowhere else. Of a text's style NVRTC is the judge.
/// \param optimisation the compiler's level; without any it takes half of the time, and what it makes two to five times as long
[[nodiscard]] compiled::source::CCompiler host_compiler(int optimisation = 1);
/// The same, for code that tells its accesses to memory, and their lines.
[[nodiscard]] compiled::source::CCompiler telling_compiler();

/// How many threads a kernel is run by.
struct Extent {
  Triple blocks;
  Triple threads;                ///< of a block
  std::size_t shared_bytes = 0;  ///< memory that the threads of a block share, NaN at first
};

/// Where in time threads are: who runs next is drawn, and stacks of those that wait are used again.
struct Course {
  explicit Course(std::uint64_t seed) : draw(seed) {}
  std::mt19937_64 draw;
  Stacks stacks;
  std::unique_ptr<Races> races;  ///< where they are looked for
};

/// A race in one line: kernels, threads, and lines of the text.
[[nodiscard]] std::string to_text(const Races& races, const Races::Race& race);

/// The kernels of one text.
class Object {
 public:
  using Caller = void (*)(void* const* values);

  /// Runs a kernel, block after block, in an order that is drawn; threads of a block run one after the other where the text has no place
  /// at which they wait for each other. One launch at a time.
  /// \param values point to the values of the kernel's parameters
  /// \throws DeviceError where there is no such kernel, and as Fibers::run; naming kernels, threads and lines where the course looks for
  ///   races and there is one
  void launch(const std::string& kernel, const Extent& extent, void* const* values, Course& course) const;
  /// Those that it has.
  [[nodiscard]] std::vector<std::string> kernels() const;

 private:
  friend std::vector<std::shared_ptr<const Object>> compile(std::span<const std::string> texts, const compiled::source::CCompiler& compiler);

  std::shared_ptr<compiled::source::Library> library_;
  ThreadState* state_ = nullptr;
  std::unordered_map<std::string, Caller> callers_;
  bool waits_ = false;
};

/// One object per text; all of them go through the compiler at once, which takes a fraction of the time of one after the other. Of
/// those that were compiled together one runs at a time.
/// \throws SpecViolation, IoError, InternalError as compile_c
[[nodiscard]] std::vector<std::shared_ptr<const Object>> compile(std::span<const std::string> texts,
                                                                 const compiled::source::CCompiler& compiler = host_compiler());

}  // namespace etalon::cuda::emulator
