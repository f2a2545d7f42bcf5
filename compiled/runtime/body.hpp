/// \file
/// What an executable has for itself: memory on its device, replays, captured values; and how one run goes. It knows no name of an
/// input but for messages.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "compiled/runtime/sources.hpp"
#include "compiled/runtime/staging.hpp"
#include "compiled/runtime/units.hpp"

namespace etalon::compiled {

/// One run at a time.
class Executable::Body {
 public:
  explicit Body(std::shared_ptr<Units> units);

  /// Takes the memory that the first unit needs now rather than at its first run. \throws DeviceError
  void prepare() { (void)on(units_->first()); }

  /// Entries of the kept inputs, null for those that are not in the store.
  [[nodiscard]] std::vector<Store::Entry*> kept_entries(Store& store) const;
  /// Runs with updates. When it throws, every value in a store is the one before.
  /// \param results gets the program's outputs; null: nobody asks for them
  /// \throws SpecViolation, DeviceError
  void step(std::span<const InputSource> sources, std::span<Store::Entry* const> kept, std::vector<HostTensor>* results);
  /// Runs a unit without updates. \returns all outputs of its system \throws DeviceError
  [[nodiscard]] std::vector<HostTensor> evaluate(const Unit& unit, std::span<const InputSource> sources);

  [[nodiscard]] const Task& task() const { return units_->task(); }
  [[nodiscard]] Units& units() { return *units_; }
  [[nodiscard]] const std::shared_ptr<Units>& shared_units() const { return units_; }
  [[nodiscard]] const Report& report() const { return report_; }

  std::vector<HostTensor> captures;  ///< what the last run left: one per captured value
  bool has_run = false;              ///< and did not fail

 private:
  Replay& on(const Unit& unit);
  void place_on_host(std::span<const InputSource> sources);
  void check_values(std::span<const InputSource> sources) const;
  void step_on_host(const Unit& unit, std::vector<HostTensor>& results);
  void step_elsewhere(const Unit& unit, std::span<const InputSource> sources, std::span<Store::Entry* const> kept, std::vector<HostTensor>* results);
  void run_elsewhere(const Unit& unit, std::span<const InputSource> sources);
  void fetch(const Unit& unit, std::size_t output, HostTensor& to);

  std::shared_ptr<Units> units_;
  std::shared_ptr<Device> device_;
  bool on_host_;
  Report report_;                   ///< of the first unit, with the memory of all that ran here
  Buffer arena_;                    ///< of all replays
  struct Made {
    const Unit* unit;
    std::unique_ptr<Replay> replay;
  };
  std::vector<Made> replays_;
  Staging staging_;                 ///< on a device other than the host
  std::vector<HostTensor> unasked_; ///< results on the host that nobody asks for
  std::vector<std::byte*> inputs_, outputs_;  ///< of the run at hand
};

}  // namespace etalon::compiled
