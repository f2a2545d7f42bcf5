/// \file
/// One compiled system: its machine code and the script that runs it. It knows positions, not names, and holds no memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/emit/llvm/jit.hpp"
#include "compiled/runtime/thread_pool.hpp"

namespace etalon::compiled {

/// Nothing of it changes once it is made: it is run through any number of replays, each on a thread of its own.
class Unit {
 public:
  /// A kernel as it is called.
  struct Kernel {
    KernelFunction function = nullptr;
    std::int64_t blocks = 1;       ///< of its range
    bool shared = false;           ///< whether threads share them
    std::vector<Memory> operands;  ///< in the function's order
  };

  /// \param updates which outputs are new values of inputs; see PlanOptions.
  /// \param kept inputs that may lie in panels.
  Unit(spec::System system, const CompileOptions& options, Jit& jit, const std::vector<PlanOptions::Update>& updates, const Kept& kept = {});

  [[nodiscard]] const spec::System& system() const { return system_; }
  [[nodiscard]] const Script& script() const { return script_; }
  [[nodiscard]] const Kernel& kernel(std::size_t k) const { return kernels_[k]; }
  [[nodiscard]] std::size_t kernels() const { return kernels_.size(); }
  /// The threads that share kernels; null: the caller's alone.
  [[nodiscard]] ThreadPool* pool() const { return pool_.get(); }
  /// How the kept inputs lie, one per each in their order.
  [[nodiscard]] const std::vector<std::optional<Panels>>& panels() const { return panels_; }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  void take(Code code, const Compilation& made);

  spec::System system_;
  Script script_;
  std::vector<Kernel> kernels_;
  std::shared_ptr<void> code_;  ///< the memory of the functions
  std::vector<std::optional<Panels>> panels_;
  std::shared_ptr<ThreadPool> pool_;
  Report report_;
};

}  // namespace etalon::compiled
