/// \file
/// One compiled system on a device: its kernels and the script that runs them. It knows positions, not names, and holds no memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::compiled {

/// Nothing of it changes once it is made: it is run through any number of replays, each on a thread of its own.
class Unit {
 public:
  /// \param updates which outputs are new values of inputs; see PlanOptions.
  /// \param kept inputs that may lie in panels.
  Unit(spec::System system, const CompileOptions& options, Device& device, const std::vector<PlanOptions::Update>& updates, const Kept& kept = {});

  [[nodiscard]] const spec::System& system() const { return system_; }
  [[nodiscard]] const Module& module() const { return *module_; }
  /// What a replay needs for intermediates.
  [[nodiscard]] std::size_t arena_bytes() const { return arena_bytes_; }
  /// How the kept inputs lie, one per each in their order.
  [[nodiscard]] const std::vector<std::optional<Panels>>& panels() const { return panels_; }
  [[nodiscard]] const Report& report() const { return report_; }

 private:
  spec::System system_;
  std::unique_ptr<const Module> module_;
  std::size_t arena_bytes_ = 0;
  std::vector<std::optional<Panels>> panels_;
  Report report_;
};

}  // namespace etalon::compiled
