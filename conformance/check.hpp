/// \file
/// Asks a backend one case and judges the answer against the envelopes of the definition. It knows no operation, and
/// nothing of a backend but its interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/case.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon::conformance {

enum class Verdict : std::uint8_t { pass, fail, unsupported, waived, undecided, crashed, timeout };
inline constexpr std::size_t verdict_count = 7;
[[nodiscard]] std::string_view name_of(Verdict verdict);

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
};

/// A backend as the checks use it: perhaps shared between threads.
class Asked {
 public:
  virtual ~Asked() = default;
  [[nodiscard]] virtual spec::Answer run(const spec::Request& request) = 0;
  [[nodiscard]] virtual std::optional<std::string> script(const spec::Request&, const std::optional<spec::Shown>&) { return std::nullopt; }
  /// Whether intermediate results that are asked for may differ from those that the next call reads.
  [[nodiscard]] virtual bool fuses() const { return false; }
};

[[nodiscard]] Outcome check(const Case& c, Asked& backend, const spec::Contract& contract);

/// For a failed step case: the failing step alone, as a value case with the state that led to it.
[[nodiscard]] std::optional<Case> failing_step(const Case& c, Asked& backend, const spec::Contract& contract);

}  // namespace etalon::conformance
