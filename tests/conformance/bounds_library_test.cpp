// No conforming evaluation of any operation of the library, or of its derivatives, lies outside its envelope.
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>

#include "conformance/admit_schemas.hpp"
#include "conformance/schemas.hpp"
#include "reference/bounds/envelope.hpp"
#include "reference/bounds/host_element.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/bounds_question.hpp"
#include "tests/sanitized.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon {
namespace {

using bounds_test::Elements;
using bounds_test::question_of;
using bounds_test::Question;

struct Tally {
  std::size_t comparisons = 0;
  std::size_t undecided = 0;
  std::size_t nodes = 0;
};

/// With sanitizers a case of each instance.
constexpr std::uint64_t cases = 8, step = test::sanitized ? 4 : 1;

/// The plainest contract, for some cases one that promises trees.
spec::Contract contract_of(const conformance::CaseKey& key) {
  spec::Contract contract;
  if (key.index % 4 == 3) {
    contract.sums = {2, 2};
    contract.contractions = {3, 1};
  }
  return contract;
}

/// What is made of the results: jointly by the envelopes or, where elements are computed anew, as the suite judges.
reference::Verdict judged(const std::vector<HostTensor>& got, const Question& q, const reference::Envelopes& bounds,
                          const spec::Contract& contract, Elements elements) {
  const reference::Verdict verdict = reference::judge(got, bounds);
  if (verdict.passed() || elements == Elements::stored) return verdict;
  reference::Envelopes admitted = bounds;
  const conformance::Schema anew{reference::with_recomputed_elements(q.system), q.inputs};
  conformance::admit_schemas(admitted, got, {&anew, 1}, {}, contract);
  return reference::judge(got, admitted);
}

void expect_inside(const reference::Verdict& verdict, const std::vector<HostTensor>& got) {
  INFO("output " << verdict.output << " element " << verdict.first_offender << " expected [" << verdict.expected.lower << ", "
                 << verdict.expected.upper << "] or " << static_cast<int>(verdict.expected.flags) << ", ratio "
                 << verdict.worst_ratio);
  INFO(verdict.message);
  const bool real = verdict.output < got.size() && kind_of(got[verdict.output].dtype) == Kind::real;
  INFO("got " << (real ? reference::bounds::real_element(got[verdict.output], verdict.first_offender) : 0));
  CHECK(verdict.passed());
}

template <class T>
void simulate(const conformance::CaseKey& key, Tally& tally, bool second = false) {
  const auto c = conformance::make_case(key);
  // Long cases only take longer.
  if (!c || c->planned > 250) return;
  const Question q = second ? bounds_test::second_question_of(*c) : question_of(*c);
  if (!bounds_test::computes_in<T>(q.system)) return;
  const spec::Contract contract = contract_of(key);
  const auto bounds = reference::envelopes(q.system, q.inputs, contract);
  tally.nodes += bounds.nodes;
  for (unsigned run = 0; run < 6; ++run) {
    const Elements elements = run < 4 ? Elements::stored : Elements::anew;
    const unsigned seed = run + 97 * static_cast<unsigned>(key.index);
    const auto got = bounds_test::Simulator<T>(q.system, q.inputs, contract, seed, elements).run();
    const auto verdict = judged(got, q, bounds, contract, elements);
    tally.comparisons += verdict.comparisons;
    tally.undecided += verdict.undecided;
    INFO(conformance::id_of(key) << (second ? " (second derivative) run " : " run ") << run);
    expect_inside(verdict, got);
    if (!verdict.passed()) return;
  }
}

}  // namespace

TEST_CASE("conforming evaluations of the whole library lie inside", "[bounds][library]") {
  using conformance::Check;
  const char* only = std::getenv("ETALON_BOUNDS_ONLY");
  const char* halves = std::getenv("ETALON_BOUNDS_HALVES");
  const std::uint64_t half_cases = halves != nullptr ? std::strtoull(halves, nullptr, 10) : 4;
  for (const spec::Definition* d : spec::library()) {
    const std::string name(d->name);
    if (only != nullptr && name != only) continue;
    std::size_t compared = 0;
    for (const Check check : {Check::value, Check::jvp, Check::vjp, Check::special, Check::step}) {
      Tally tally;
      // Short cases may have nothing to decide, a softmax of one element, say: then more are drawn.
      for (std::uint64_t index = 0; index < cases || (tally.comparisons <= tally.undecided && index < 64); index += step) {
        simulate<float>({name, check, DType::f32, index, 1}, tally);
        simulate<double>({name, check, DType::f64, index, 1}, tally);
        // Stored in 16 bits, computed in single precision.
        if (index < half_cases) simulate<float>({name, check, index % 2 == 0 ? DType::f16 : DType::bf16, index, 1}, tally);
      }
      // What is undecided for most elements would convict nobody.
      INFO(name << " " << conformance::name_of(check) << ": " << tally.comparisons << " compared, " << tally.undecided << " undecided");
      if (check != Check::special) CHECK(tally.undecided <= tally.comparisons);
      compared += tally.comparisons;
      if (std::getenv("ETALON_BOUNDS_REPORT") != nullptr && tally.undecided * 50 > tally.comparisons) {
        WARN(name << " " << conformance::name_of(check) << ": " << tally.comparisons << " compared, " << tally.undecided << " undecided");
      }
    }
    INFO(name);
    CHECK(compared > 0);
  }
}

TEST_CASE("conforming evaluations of second derivatives lie inside", "[bounds][library]") {
  using conformance::Check;
  Tally tally;
  for (const spec::Definition* d : spec::library()) {
    for (std::uint64_t index = 0; index < 4; index += step) {
      simulate<float>({std::string(d->name), Check::vjp, DType::f32, index, 1}, tally, true);
      simulate<double>({std::string(d->name), Check::vjp, DType::f64, index, 1}, tally, true);
    }
  }
  INFO(tally.comparisons << " compared, " << tally.undecided << " undecided");
  CHECK(tally.comparisons * step > 100000);
  CHECK(tally.undecided * 4 <= tally.comparisons);
}

}  // namespace etalon
