// A directed search for a conforming evaluation outside its envelope: hill climbing on error over bound, over the inputs
// and over every choice of the evaluator, for the whole library and under several contracts.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "conformance/values.hpp"
#include "reference/bounds/envelope.hpp"
#include "tests/conformance/bounds_question.hpp"
#include "tests/sanitized.hpp"
#include "tests/simulator/simulator.hpp"

namespace etalon {
namespace {

using bounds_test::Choices;
using bounds_test::Question;

/// Some numbers and some choices, and how near they come to the bound.
struct State {
  std::vector<HostTensor> inputs;
  Choices choices{0};
  reference::Envelopes bounds;
  double ratio = -1;
};

struct Found {
  std::size_t comparisons = 0;
  double worst = 0;
};

template <class T>
class Search {
 public:
  Search(const Question& question, const spec::Contract& contract, unsigned seed)
      : system_(question.system), contract_(contract), random_(seed) {
    best_.inputs = question.inputs;
    best_.choices = Choices(seed);
  }

  Found climb(int steps) {
    best_.bounds = reference::envelopes(system_, best_.inputs, contract_);
    judge(best_);
    for (int step = 0; step < steps && !(best_.ratio > 1); ++step) {
      State next = best_;
      if (random_() % 3 == 0) {
        if (!move_input(next)) continue;
        next.bounds = reference::envelopes(system_, next.inputs, contract_);
      } else if (random_() % 4 == 0) {
        next.choices = Choices(static_cast<unsigned>(random_()));
      } else {
        // Early choices are the strategies, later ones single operations.
        next.choices.replace(random_() % (random_() % 2 == 0 ? 8 : 400), static_cast<std::uint32_t>(random_()));
      }
      judge(next);
      if (next.ratio >= best_.ratio) best_ = std::move(next);
    }
    return {comparisons_, best_.ratio};
  }

  [[nodiscard]] const reference::Verdict& verdict() const { return verdict_; }

 private:
  void judge(State& state) {
    const auto got = bounds_test::Simulator<T>(system_, state.inputs, contract_, state.choices).run();
    const reference::Verdict verdict = reference::judge(got, state.bounds);
    comparisons_ += verdict.comparisons;
    state.ratio = verdict.message.empty() ? verdict.worst_ratio : std::numeric_limits<double>::infinity();
    if (!verdict.passed()) verdict_ = verdict;
  }

  /// Moves one number a little or a lot; whether there is one to move.
  bool move_input(State& state) {
    if (state.inputs.empty()) return false;
    HostTensor& t = state.inputs[random_() % state.inputs.size()];
    const auto count = static_cast<std::size_t>(t.dims.count());
    if (count == 0 || kind_of(t.dtype) != Kind::real) return false;
    const std::size_t i = random_() % count;
    const double x = conformance::element(t, i);
    const double ulp = std::ldexp(std::fabs(x), -std::numeric_limits<T>::digits + 1);
    switch (random_() % 6) {
      case 0: conformance::set_element(t, i, x + ulp * (static_cast<double>(random_() % 9) - 4)); break;
      case 1: conformance::set_element(t, i, std::ldexp(x, static_cast<int>(random_() % 7) - 3)); break;
      case 2: conformance::set_element(t, i, conformance::element(t, random_() % count)); break;
      case 3: conformance::set_element(t, i, -conformance::element(t, random_() % count)); break;
      case 4: conformance::set_element(t, i, x == 0 ? 1 : std::copysign(std::ldexp(1.0, std::ilogb(x)) - ulp / 2, x)); break;
      default: conformance::set_element(t, i, x * (1 + 0.1 * (static_cast<double>(random_() % 21) - 10) / 10));
    }
    return true;
  }

  const spec::System& system_;
  const spec::Contract& contract_;
  std::mt19937 random_;
  State best_;
  std::size_t comparisons_ = 0;
  reference::Verdict verdict_;
};

/// The plainest contract, some that grant more freedoms, and one that promises trees.
std::vector<spec::Contract> contracts() {
  spec::Contract plain;
  spec::Contract flushing;
  flushing.name = "flushing";
  flushing.flush_results = flushing.flush_operands = true;
  spec::Contract quick;
  quick.name = "reciprocals, wide functions";
  quick.reciprocal_division = true;
  quick.default_function = {2.5, 0.25, 0, false};
  spec::Contract narrow;
  narrow.name = "operands of eleven bits";
  narrow.product_operand_precision = 11;
  spec::Contract trees;
  trees.name = "two lanes of blocks of two, contractions in three lanes";
  trees.sums = {2, 2};
  trees.contractions = {std::nullopt, 3};
  return {plain, flushing, quick, narrow, trees};
}

template <class T>
void search(const conformance::CaseKey& key, const spec::Contract& contract, int steps, Found& total) {
  const auto c = conformance::make_case(key);
  // Small cases leave more room to each single choice.
  if (!c || c->planned > 40) return;
  const Question q = bounds_test::question_of(*c);
  if (!bounds_test::computes_in<T>(q.system)) return;
  Search<T> climber(q, contract, static_cast<unsigned>(key.index) + 1);
  const Found found = climber.climb(steps);
  total.comparisons += found.comparisons;
  total.worst = std::max(total.worst, found.worst);
  INFO(conformance::id_of(key) << " under " << contract.name << ": element " << climber.verdict().first_offender
                               << " of output " << climber.verdict().output << " expected ["
                               << climber.verdict().expected.lower << ", " << climber.verdict().expected.upper
                               << "], error over bound " << found.worst << " "
                               << climber.verdict().message);
  CHECK(!(found.worst > 1));
}

Found search_library(int steps, std::uint64_t cases) {
  using conformance::Check;
  const char* only = std::getenv("ETALON_BOUNDS_ONLY");
  Found total;
  std::uint64_t number = 0;
  for (const spec::Definition* d : spec::library()) {
    const std::string name(d->name);
    if (only != nullptr && name != only) continue;
    for (const Check check : {Check::value, Check::jvp, Check::vjp}) {
      for (std::uint64_t index = 0; index < cases; ++index) {
        const auto all = contracts();
        const spec::Contract& contract = all[number++ % all.size()];
        search<float>({name, check, DType::f32, index, 1}, contract, steps, total);
        search<double>({name, check, DType::f64, index, 1}, contract, steps, total);
      }
    }
  }
  return total;
}

}  // namespace

TEST_CASE("a directed search finds no conforming evaluation outside", "[bounds][search]") {
  const Found found = search_library(12, test::sanitized ? 1 : 3);
  INFO(found.comparisons << " comparisons, worst error over bound " << found.worst);
  CHECK(found.comparisons > 10000);
  // It does come near: a search that stays far from the bound would find nothing anywhere.
  CHECK(found.worst > 0.9);
}

TEST_CASE("a long directed search finds no conforming evaluation outside", "[.search]") {
  const Found found = search_library(300, 12);
  WARN(found.comparisons << " comparisons, worst error over bound " << found.worst);
  CHECK(found.comparisons > 1000000);
}

}  // namespace etalon
