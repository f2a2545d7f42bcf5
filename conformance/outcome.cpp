#include "conformance/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

[[nodiscard]] std::string admitted(const reference::Admitted& expected) {
  std::string text;
  const auto add = [&](std::uint8_t flag, const char* name) {
    if ((expected.flags & flag) == 0) return;
    if (!text.empty()) text += " or ";
    text += name;
  };
  add(reference::admits_positive_infinity, "inf");
  add(reference::admits_negative_infinity, "-inf");
  add(reference::admits_nan, "nan");
  return text;
}

}  // namespace

void Outcome::add(const Outcome& other) {
  comparisons += other.comparisons;
  undecided += other.undecided;
  worst_ratio = std::max(worst_ratio, other.worst_ratio);
}

void Outcome::decide() {
  if (verdict != Verdict::pass || undecided == 0 || undecided != comparisons) return;
  verdict = Verdict::undecided;
  why = "the bound says nothing useful here";
}

Outcome failed(std::string why) {
  Outcome outcome;
  outcome.verdict = Verdict::fail;
  outcome.comparisons = 1;
  outcome.worst_ratio = std::numeric_limits<double>::infinity();
  outcome.why = std::move(why);
  return outcome;
}

Outcome refused(const spec::Refusal& refusal) {
  using Kind = spec::Refusal::Kind;
  if (refusal.kind == Kind::rejected) return failed("rejected a well-typed call: " + refusal.why);
  if (refusal.kind == Kind::error) return failed("failed: " + refusal.why);
  Outcome outcome;
  outcome.verdict = refusal.kind == Kind::crashed   ? Verdict::crashed
                    : refusal.kind == Kind::timeout ? Verdict::timeout
                                                    : Verdict::unsupported;
  outcome.why = refusal.why;
  return outcome;
}

Outcome outcome_of(const reference::Verdict& verdict, const std::vector<HostTensor>& got,
                   const std::vector<std::string>& names) {
  Outcome outcome;
  outcome.comparisons = verdict.comparisons + verdict.undecided;
  outcome.undecided = verdict.undecided;
  outcome.worst_ratio = verdict.worst_ratio;
  outcome.statistic = verdict.statistic;
  if (verdict.passed()) {
    outcome.decide();
    return outcome;
  }
  outcome.verdict = Verdict::fail;
  outcome.why = verdict.message;
  outcome.comparisons = std::max<std::size_t>(outcome.comparisons, 1);
  if (verdict.output < got.size() && verdict.first_offender != reference::Verdict::nothing) {
    const bool finite = (verdict.expected.flags & reference::admits_finite) != 0;
    outcome.offender = Offender{names[verdict.output],
                                verdict.first_offender,
                                finite ? verdict.expected.lower : std::nan(""),
                                finite ? verdict.expected.upper : std::nan(""),
                                element(got[verdict.output], verdict.first_offender),
                                admitted(verdict.expected),
                                got[verdict.output].dtype,
                                verdict.output};
  }
  return outcome;
}

}  // namespace etalon::conformance
