/// \file
/// The units of one program: what runs, the same without updates or on parameters that lie otherwise, and derivatives. It holds no memory
/// to run on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "compiled/runtime/unit.hpp"
#include "compiled/task.hpp"

namespace etalon::compiled {

/// Units are made when somebody first needs them and stay as long as this. Any thread may ask at any time; one waits while another makes.
class Units {
 public:
  Units(Task task, const CompileOptions& options);

  [[nodiscard]] const Task& task() const { return task_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const { return options_.device; }
  /// Parameters, which a store may hold in panels.
  [[nodiscard]] const std::vector<KeptInput>& kept() const { return kept_; }

  /// With updates, for parameters as it likes them best. The host writes new values where the old ones lie; on another device they are
  /// outputs with memory of their own, so that a run that fails leaves the old ones.
  [[nodiscard]] const Unit& first() const { return *first_; }
  /// The same for parameters that lie so, one layout per kept input.
  [[nodiscard]] const Unit& laid_out(const std::vector<std::optional<Panels>>& panels);
  /// Without updates, for parameters in row-major order.
  [[nodiscard]] const Unit& without_writes();
  /// \param wrt positions of inputs
  [[nodiscard]] const Unit& derivative(bool reverse, const std::vector<std::size_t>& wrt);

 private:
  [[nodiscard]] spec::System with_outputs(std::size_t count) const;
  [[nodiscard]] std::unique_ptr<Unit> made_of(spec::System system, const std::vector<PlanOptions::Update>& updates = {}, const Kept& kept = {}) const;

  Task task_;
  CompileOptions options_;  ///< with a device
  std::vector<PlanOptions::Update> in_place_;  ///< updates that are written where the old values lie
  std::vector<KeptInput> kept_;
  std::unique_ptr<Unit> first_;
  std::mutex mutex_;  ///< of all below
  std::vector<std::unique_ptr<Unit>> others_;  ///< for other layouts
  std::unique_ptr<Unit> pure_;
  std::map<std::pair<bool, std::vector<std::size_t>>, std::unique_ptr<Unit>> derivatives_;  ///< (vjp, wrt)
};

}  // namespace etalon::compiled
