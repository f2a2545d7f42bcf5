/// \file
/// What became of a case, in the words of a report. It judges nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

enum class Verdict : std::uint8_t { pass, fail, unsupported, waived, undecided, crashed, timeout };
inline constexpr std::array<std::string_view, 7> verdict_names{"pass",      "fail",    "unsupported", "waived",
                                                               "undecided", "crashed", "timeout"};
inline constexpr std::size_t verdict_count = verdict_names.size();
[[nodiscard]] constexpr std::string_view name_of(Verdict verdict) { return verdict_names[static_cast<std::size_t>(verdict)]; }

/// The element that convicts.
struct Offender {
  std::string tensor;  ///< `y`, `x~`, `y'`
  std::size_t element = 0;
  double lower = 0, upper = 0;
  double got = 0;
  std::string expected;  ///< special values that are admissible besides, or what was expected instead of an interval
  DType dtype = DType::f64;  ///< of the element
  std::size_t output = 0;    ///< the tensor's place among those judged: outputs, then derivatives
  std::optional<double> exact{};  ///< what the equations mean there, where it was computed
};

struct Outcome {
  Verdict verdict = Verdict::pass;
  std::size_t comparisons = 0;
  std::size_t undecided = 0;  ///< comparisons among them where the envelope says nothing useful
  double worst_ratio = 0;     ///< largest error over bound
  reference::Statistic statistic;  ///< errors over their deviations: warns, never fails
  std::string why;            ///< one line when the verdict is not `pass`
  std::optional<Offender> offender;
  int step = 0;  ///< the step that failed, from 1
  std::string cause{};  ///< of a failure that was made small: what explains it, where something does
  std::vector<std::string> calls{};  ///< of a bad verdict on a program: the operations that it may be about

  /// Takes in what another one compared; verdict and reason stay, and so does the statistic.
  void add(const Outcome& other);
  /// A pass where nothing that was compared is decided becomes undecided.
  void decide();
};

/// An outcome that fails for this reason, with one comparison.
[[nodiscard]] Outcome failed(std::string why);

/// What a refusal counts as.
[[nodiscard]] Outcome refused(const spec::Refusal& refusal);

/// The verdict of the bounds.
[[nodiscard]] Outcome outcome_of(const reference::Verdict& verdict, const std::vector<HostTensor>& got,
                                 const std::vector<std::string>& names);

}  // namespace etalon::conformance
