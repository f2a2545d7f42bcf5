/// \file
/// Finds out what became of each value and what each kernel moves. It decides nothing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "compiled/ir/plan.hpp"
#include "compiled/report.hpp"

namespace etalon::compiled {

/// Looks on while equations are rewritten: after which stage is nobody left who reads a value?
class ValueHistory {
 public:
  /// \param before the system as it was given.
  explicit ValueHistory(const spec::System& before);
  /// The system after a stage of that name, which outlives this.
  void after(std::string_view stage, const spec::System& system);
  /// What became of every value of the system, in the end.
  [[nodiscard]] std::vector<ValueReport> reports(const spec::System& system, const Plan& plan) const;

 private:
  std::size_t given_;                       ///< tensors before the passes
  std::vector<bool> computed_;              ///< they had equations
  std::vector<std::string> sources_;        ///< the lines that these came from
  std::vector<std::string_view> gone_;      ///< the pass after which nobody reads the tensor; empty while somebody does
};

/// What each kernel reads and writes.
[[nodiscard]] std::vector<KernelReport> kernel_reports(const spec::System& system, const Plan& plan);

/// Bytes of all inputs, and of the outputs that have memory of the caller's.
void count_bytes(const spec::System& system, const Plan& plan, Report& report);

/// The values as lines of a dump.
[[nodiscard]] std::string to_text(const std::vector<ValueReport>& values);

}  // namespace etalon::compiled
