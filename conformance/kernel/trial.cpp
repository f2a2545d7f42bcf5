#include "conformance/kernel/trial.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "conformance/asking.hpp"
#include "conformance/cases.hpp"
#include "conformance/explaining.hpp"
#include "conformance/kernel/long_axes.hpp"
#include "conformance/plan.hpp"
#include "conformance/shrink.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

// What a kernel may be asked: all that is about the values of one call.
constexpr std::array checks{Check::value, Check::special, Check::determinism, Check::layout};
constexpr std::size_t shrink_attempts = 400;

[[nodiscard]] ConformOptions questions(const TrialOptions& options) {
  ConformOptions asked;
  asked.library = options.library;
  asked.operations = {options.operation};
  asked.modes = {spec::Mode::forward};
  asked.dtypes = options.dtypes;
  asked.tier = options.tier;
  asked.seed = options.seed;
  asked.checks.assign(checks.begin(), checks.end());
  return asked;
}

/// Those of the tier, and large tensors in every tier: there ends of blocks and long sums go wrong.
[[nodiscard]] std::vector<Unit> units_of(ConformOptions options, const spec::Description& description) {
  std::vector<Unit> units = plan(options);
  options.checks = {Check::large};
  options.tier = std::max(options.tier, Tier::full);
  std::vector<Unit> large = plan(options);
  std::move(large.begin(), large.end(), std::back_inserter(units));
  return offered(std::move(units), description);
}

class Court {
 public:
  Court(const TrialOptions& options, spec::Backend& backend) : options_(options), backend_(backend) { trial_.open = options.dtypes; }

  [[nodiscard]] Verdict judged(const Case& c) {
    const Outcome outcome = check(c, backend_, options_.contract);
    ++trial_.asked;
    trial_.comparisons += outcome.comparisons;
    trial_.undecided += outcome.undecided;
    if (outcome.comparisons > outcome.undecided) std::erase(trial_.open, c.key.dtype);
    trial_.worst_ratio = std::max(trial_.worst_ratio, outcome.worst_ratio);
    if (outcome.verdict == Verdict::unsupported) ++trial_.declined;
    if (is_bad(outcome.verdict)) convict(c, outcome);
    return outcome.verdict;
  }
  [[nodiscard]] Trial taken() { return std::move(trial_); }

 private:
  void convict(const Case& c, const Outcome& outcome) {
    trial_.id = id_of(c.key);
    // A smaller question would be waited for as long.
    const bool waits = outcome.verdict == Verdict::timeout;
    const ShrinkBudget budget{shrink_attempts, options_.shrink_seconds};
    Shrunk shrunk =
        waits ? Shrunk{c, outcome} : taught(shrink(c, outcome, backend_, options_.contract, budget), backend_, options_.contract);
    trial_.outcome = std::move(shrunk.outcome);
    trial_.outcome.why = well_formed(trial_.outcome.why);
    trial_.smallest = std::move(shrunk.smallest);
  }

  const TrialOptions& options_;
  Shared backend_;
  Trial trial_;
};

}  // namespace

Trial tried(const TrialOptions& options, spec::Backend& backend) {
  const ConformOptions asked = questions(options);
  const spec::Description description = backend.describe();
  Court court(options, backend);
  for (const Unit& unit : units_of(asked, description)) {
    Cases cases(unit, asked, &description);
    while (const auto next = cases.next()) {
      if (!next->made) continue;
      // What takes numbers of any kind is asked for those that the kernel is for.
      if (next->made->assignment.shared_type) {
        cases.refused(*next->made);
        continue;
      }
      const Verdict verdict = court.judged(*next->made);
      if (is_bad(verdict)) return court.taken();
      if (verdict == Verdict::unsupported) cases.refused(*next->made);
    }
  }
  for (const DType dtype : options.dtypes) {
    for (const Case& c : long_cases(options.library, options.operation, dtype, options.seed)) {
      if (is_bad(court.judged(c))) return court.taken();
    }
  }
  return court.taken();
}

}  // namespace etalon::conformance
