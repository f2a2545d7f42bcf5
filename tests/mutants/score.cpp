#include "tests/mutants/score.hpp"

#include <algorithm>
#include <sstream>

#include "conformance/cases.hpp"
#include "conformance/plan.hpp"
#include "conformance/shrink.hpp"
#include "spec/library/library.hpp"

namespace etalon::mutants {
namespace {

using conformance::Case;
using conformance::Check;
using conformance::Verdict;

class Direct final : public conformance::Asked {
 public:
  explicit Direct(spec::Backend& backend) : backend_(backend) {}
  spec::Answer run(const spec::Request& request) override { return backend_.run(request); }

 private:
  spec::Backend& backend_;
};

bool touched(Mutated& backend, const Case& c) {
  // What the adjoint law asks twice, in both modes, is asked in any case.
  if (c.key.check == Check::adjoint || c.key.check == Check::rejection || c.key.check == Check::determinism)
    return true;
  return backend.touches(conformance::request_of(c));
}

std::vector<conformance::Cases> units_of(const conformance::ConformOptions& options) {
  std::vector<conformance::Cases> units;
  for (const conformance::Unit& unit : conformance::plan(options)) units.emplace_back(unit, options);
  return units;
}

bool is_crash(const conformance::Outcome& outcome) {
  return outcome.verdict == Verdict::crashed || outcome.why.starts_with("failed:");
}

}  // namespace

std::vector<std::string> known_operations(std::string_view list) {
  std::vector<std::string> names;
  std::stringstream text{std::string(list)};
  for (std::string name; std::getline(text, name, ',');) {
    if (spec::find_definition(name) != nullptr) names.push_back(name);
  }
  return names;
}

Finding convict(const Mutant& mutant, const conformance::ConformOptions& options) {
  const auto backend = make_mutant(mutant);
  Direct asked(*backend);
  const spec::Contract contract = backend->describe().contract;
  std::vector<conformance::Cases> units = units_of(options);
  Finding finding;
  bool more = true;
  while (more) {
    more = false;
    for (conformance::Cases& unit : units) {
      const auto next = unit.next();
      if (!next) continue;
      more = true;
      if (!next->made) continue;
      if (!touched(*backend, *next->made)) {
        ++finding.skipped;
        continue;
      }
      ++finding.asked;
      const conformance::Outcome outcome = check(*next->made, asked, contract);
      if (is_crash(outcome)) finding.crashes.push_back(conformance::id_of(next->key) + ": " + outcome.why);
      if (outcome.verdict != Verdict::fail || is_crash(outcome)) continue;
      finding.first = Conviction{*next->made, outcome};
      return finding;
    }
  }
  return finding;
}

void shrink(const Mutant& mutant, Finding& finding, std::size_t attempts) {
  if (!finding.first) return;
  const auto backend = make_mutant(mutant);
  Direct asked(*backend);
  finding.smallest =
      conformance::shrink(finding.first->made, finding.first->outcome, asked, backend->describe().contract, {attempts, 600})
          .smallest;
}

std::size_t numbers_given(const Case& c) {
  std::size_t count = 0;
  const auto add = [&](const std::vector<std::optional<HostTensor>>& list) {
    for (const auto& t : list) count += t ? static_cast<std::size_t>(t->dims.count()) : 0;
  };
  add(c.operands);
  const bool both = c.key.check == Check::adjoint;
  const bool second = c.mode == spec::Mode::jvp_of_vjp;
  if (c.mode == spec::Mode::jvp || both || second) add(c.tangents);
  if (c.mode == spec::Mode::vjp || both || second) add(c.cotangents);
  if (second) add(c.cotangent_tangents);
  return count;
}

}  // namespace etalon::mutants
