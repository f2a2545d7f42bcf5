/// \file
/// One compiled system over memory for intermediates. It knows positions, not names.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/emit/llvm/jit.hpp"
#include "compiled/runtime/buffer.hpp"
#include "compiled/runtime/thread_pool.hpp"

namespace etalon::compiled {

/// Runs one at a time.
class Unit {
 public:
  /// \param arena memory for intermediates; it is made larger where the unit needs more. Units that share it run one at a time
  /// \param updates which outputs are new values of inputs; see PlanOptions.
  /// \param kept inputs that may lie in panels.
  Unit(spec::System system, const CompileOptions& options, std::shared_ptr<Jit> jit, std::shared_ptr<Buffer> arena,
       const std::vector<PlanOptions::Update>& updates, const Kept& kept = {});

  /// \param inputs memory per input; that of updated inputs is written.
  /// \param outputs memory per output; not used for updates.
  void run(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);

  [[nodiscard]] const spec::System& system() const { return system_; }
  /// How the kept inputs lie, one per each in their order.
  [[nodiscard]] const std::vector<std::optional<Panels>>& panels() const { return panels_; }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  void reserve_arena();
  void place(std::span<std::byte* const> inputs, std::span<std::byte* const> outputs);
  void call(std::size_t kernel);

  spec::System system_;
  Plan plan_;
  Code code_;
  std::vector<bool> shared_;  ///< per kernel, whether threads share its work
  std::vector<std::byte*> inputs_;   ///< where the operands below are from
  std::vector<std::byte*> outputs_;
  std::vector<std::byte*> tensors_;
  std::vector<std::vector<std::byte*>> operands_;  ///< of each kernel
  std::vector<std::optional<Panels>> panels_;
  std::shared_ptr<Buffer> arena_;
  const std::byte* arena_at_ = nullptr;  ///< where it was when the operands were found
  std::shared_ptr<ThreadPool> pool_;  ///< of all units of a program
  Report report_;
};

}  // namespace etalon::compiled
