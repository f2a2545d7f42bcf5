/// \file
/// A search for a faster schedule of a program: one decision at a time is changed, and what runs faster is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/machine/machine.hpp"
#include "conformance/outcome.hpp"
#include "spec/program/program.hpp"

namespace etalon::command {

struct TuningOptions {
  double seconds = 30;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  bool reorder_sums = false;  ///< also decisions that change the order of sums; results are then held to what their roundings allow
  bool conform = false;       ///< hold the end to the definitions too, by the judge of conformance: the reference takes its time
  std::function<void(const std::string& line)> progress;
};

/// What was found.
struct Tuned {
  std::vector<compiled::DecisionLine> decisions;  ///< those that differ from what costs decide; none where nothing faster was found
  double before = 0;       ///< seconds of a run as costs decide, the median of those that were sampled last
  double after = 0;        ///< the same with what was tried beside it: the decisions, where some were found
  std::size_t tried = 0;   ///< that ran
  std::size_t refused = 0; ///< that cannot be
  std::size_t other = 0;   ///< whose results were others
  compiled::Machine machine;
  std::optional<conformance::Outcome> outcome{};  ///< with `conform`, of what was found, or of what costs decide where that is nothing
};

/// Results with new decisions are those without them, bit for bit; where sums may be reordered, as near as the roundings of either allow.
/// What does not conform is not among what was found.
/// \throws SpecViolation for a program that does not compile.
[[nodiscard]] Tuned tune(const spec::Program& program, const TuningOptions& options);

}  // namespace etalon::command
