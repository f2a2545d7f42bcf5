// Every definition, its derivatives and drawn programs over boxes about their inputs: what the exact reference and conforming
// evaluations make of points of the box lies in the ranges.
#include <catch2/catch.hpp>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/question.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "tests/conformance/bounds_question.hpp"
#include "tests/reference/bounds_boxes.hpp"
#include "tests/sanitized.hpp"
#include "tests/simulator/simulator.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using namespace bounds_test;

namespace {

struct Counts {
  std::size_t cases = 0, unsupported = 0;
  Tally tally;
};

template <class T>
void try_case(const Case& c, const conformance::Question& question, double size, Narrowing narrowing, spec::Backend& exact, Counts& counts) {
  const Boxes in = boxes_about(question.inputs, size, size / 8);
  const std::vector<Combination> combinations = combinations_of(question.system, 5);
  if (combinations.empty()) return;
  std::vector<OutputRange> found;
  try {
    found = reference::ranges(question.system, question.inputs, in.boxes, {}, combinations, narrowing);
  } catch (const Unsupported&) {
    ++counts.unsupported;
    return;
  }
  std::mt19937 random(11);
  for (unsigned run = 0; run < 3; ++run) {
    counts.tally.hold(combinations, found, Simulator<T>(question.system, point_in(in, random), spec::Contract{}, run, Elements::stored).run());
  }
  if (c.mode != spec::Mode::forward) return;
  spec::Request request = request_of(c);
  request.inputs = point_in(in, random);
  const spec::Answer answer = exact.run(request);
  if (const auto* numbers = std::get_if<spec::Numbers>(&answer)) counts.tally.hold(combinations, found, numbers->outputs);
}

constexpr std::array checks{Check::value, Check::jvp, Check::vjp, Check::program};

/// So many draws of each check for each definition.
void try_definitions(std::uint64_t draws) {
  constexpr std::size_t most_elements = 120, every = test::sanitized ? 6 : 1;
  const auto exact = reference::make_reference_backend();
  Counts counts;
  std::size_t number = 0;
  for (const spec::Definition* d : spec::library()) {
    if (number++ % every != 0) continue;
    for (std::uint64_t draw = 0; draw < draws * checks.size(); ++draw) {
      const std::uint64_t index = number + draw;
      const Check check = checks[draw % checks.size()];
      const DType dtype = index % 3 == 0 ? DType::f64 : DType::f32;
      const auto c = conformance::make_case({std::string(d->name), check, dtype, (index * 7) % 60, 1, {}});
      if (!c || elements_of(*c) > most_elements) continue;
      const conformance::Question question = conformance::question_of(request_of(*c));
      const double size = draw % 2 == 0 ? 1.0 / 16 : 1.0 / 1024;
      const Narrowing narrowing = narrowings[(index + draw / 4) % 4];
      Tally before = counts.tally;
      if (computes_in<float>(question.system)) try_case<float>(*c, question, size, narrowing, *exact, counts);
      else if (computes_in<double>(question.system)) try_case<double>(*c, question, size, narrowing, *exact, counts);
      INFO(d->name << ", check " << static_cast<int>(check) << ", narrowing " << static_cast<int>(narrowing));
      CHECK(counts.tally.outside == before.outside);
      ++counts.cases;
    }
  }
  INFO(counts.cases << " cases, " << counts.unsupported << " unsupported, " << counts.tally.comparisons << " comparisons, "
                    << counts.tally.open << " open");
  CHECK(counts.cases > 300 / every);
  CHECK(counts.unsupported * 20 < counts.cases);
  // Most is bounded: what is not are poles, and integers that hang on reals.
  CHECK(counts.tally.comparisons > 2 * counts.tally.open);
  CHECK(counts.tally.comparisons > 3000 / every);
}

}  // namespace

TEST_CASE("every definition over boxes", "[boxes]") { try_definitions(3); }

// build/gcc/tests/test_conformance "[many-boxes]"
TEST_CASE("every definition over many boxes", "[.][many-boxes]") { try_definitions(40); }
