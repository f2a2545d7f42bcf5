#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../reference/rationals.hpp"
#include "../spec/notation_samples.hpp"
#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/ir/plan.hpp"
#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "conformance/shapes.hpp"
#include "optimising.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/system/simplify.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::reference::Array;
using etalon::reference::Rational;

namespace {

constexpr std::uint32_t seeds = 3;

/// Integers that are often valid indices, and reals as `real` makes them of a word of 24 bits.
template <class T, class Real>
std::vector<Array<T>> draw(const System& system, std::uint32_t seed, Real real) {
  std::mt19937 random(seed);
  const auto word = [&] { return static_cast<std::uint32_t>(random()) >> 8U; };
  std::vector<Array<T>> inputs;
  for (const TensorId t : system.inputs) {
    Array<T> a(kind_of(system[t].dtype), system[t].dims);
    for (T& x : a.real) x = real(word());
    for (std::int64_t& n : a.integer) {
      n = a.kind == Kind::boolean ? word() % 2 : static_cast<std::int64_t>(word() % 6) - 1;
    }
    inputs.push_back(std::move(a));
  }
  return inputs;
}

/// Off the places where definitions bend for the first seed, off and on them for the others.
std::vector<Array<double>> draw_reals(const System& system, std::uint32_t seed) {
  const double special[] = {0.0, -0.0, 1.0, -1.0, HUGE_VAL, std::nan("")};
  return draw<double>(system, seed, [&](std::uint32_t word) {
    return seed > 1 && word % 16 == 0 ? special[(word >> 4U) % 6] : (static_cast<double>(word) - 8388608.0) / 3000017.0;
  });
}

/// Integers: from 1 to 4 for the first seed, so that nothing is divided by zero, from -3 to 3 for the others.
std::vector<Array<Rational>> draw_rationals(const System& system, std::uint32_t seed) {
  return draw<Rational>(system, seed, [&](std::uint32_t word) {
    return Rational(seed == 1 ? 1 + static_cast<int>(word % 4) : static_cast<int>(word % 7) - 3);
  });
}

/// What was compared for one system or many.
struct Tally {
  std::size_t systems = 0;
  std::size_t numbers = 0;   ///< real elements that are numbers, before and after with the same bits
  std::size_t algebraic = 0; ///< systems that apply no function that leaves the rationals
  std::size_t exact = 0;     ///< systems that were evaluated over the rationals
  std::size_t rationals = 0; ///< real elements that are the same rational number before and after
};

bool same_bits(const std::vector<Array<double>>& a, const std::vector<Array<double>>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (!(a[t].dims == b[t].dims) || a[t].integer != b[t].integer || a[t].real.size() != b[t].real.size()) return false;
    for (std::size_t i = 0; i < a[t].real.size(); ++i) {
      const double x = a[t].real[i];
      const double y = b[t].real[i];
      if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
    }
  }
  return true;
}

/// Solving may change the order of a sum (docs/decisions/0004-derivatives.md); everything after it keeps every bit.
void check_bits(const System& before, const System& after, Tally& tally) {
  System solved = before;
  spec::solve_guards(solved);
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const std::vector<Array<double>> inputs = draw_reals(before, seed);
    const auto expected = reference::evaluate<double>(solved, std::span<const Array<double>>(inputs));
    const auto found = reference::evaluate<double>(after, std::span<const Array<double>>(inputs));
    CHECK(same_bits(expected, found));
    for (const auto& a : expected) {
      tally.numbers += static_cast<std::size_t>(std::count_if(a.real.begin(), a.real.end(), [](double x) { return !std::isnan(x); }));
    }
  }
}

/// Over the rationals the order of a sum does not matter: the passes, solving included, keep every value.
void check_exactly(const System& before, const System& after, Tally& tally) {
  bool evaluated = false;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    const std::vector<Array<Rational>> inputs = draw_rationals(before, seed);
    std::vector<Array<Rational>> expected, found;
    try {
      expected = reference::evaluate<Rational>(before, std::span<const Array<Rational>>(inputs));
    } catch (const Unsupported&) {
      continue;
    }
    evaluated = true;
    REQUIRE_NOTHROW(found = reference::evaluate<Rational>(after, std::span<const Array<Rational>>(inputs)));
    REQUIRE(found.size() == expected.size());
    for (std::size_t t = 0; t < found.size(); ++t) {
      CHECK(found[t].dims == expected[t].dims);
      CHECK(found[t].integer == expected[t].integer);
      CHECK(found[t].real == expected[t].real);
      tally.rationals += found[t].real.size();
    }
  }
  const bool algebraic = test::keeps_rationals(before);
  CHECK((evaluated || !algebraic));
  tally.exact += evaluated ? 1 : 0;
  tally.algebraic += algebraic ? 1 : 0;
}

void check_pipeline(const System& before, Tally& tally) {
  System after = before;
  compiled::CompileOptions options;
  options.verify = true;
  test::optimise(after, options);
  INFO(to_text(before) << "\nbecame\n" << to_text(after));
  ++tally.systems;
  check_bits(before, after, tally);
  check_exactly(before, after, tally);
  for (const bool fuse : {false, true}) {
    compiled::PlanOptions plan_options;
    plan_options.fuse = fuse;
    const compiled::Plan plan = compiled::plan(after, plan_options);
    REQUIRE_NOTHROW(compiled::check_plan(after, plan, plan_options));
    CHECK(plan.residences.size() == after.tensors.size());
  }
}

std::vector<std::size_t> real_inputs(const System& system) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < system.inputs.size(); ++i) {
    if (kind_of(system[system.inputs[i]].dtype) == Kind::real) result.push_back(i);
  }
  return result;
}

bool has_real_output(const System& system) {
  for (const TensorId t : system.outputs) {
    if (kind_of(system[t].dtype) == Kind::real) return true;
  }
  return false;
}

void check_with_derivatives(const System& forward, Tally& tally) {
  check_pipeline(forward, tally);
  const std::vector<std::size_t> wrt = real_inputs(forward);
  if (wrt.empty() || !has_real_output(forward)) return;
  check_pipeline(jvp(forward, wrt), tally);
  check_pipeline(vjp(forward, wrt), tally);
}

/// The equations of some call of the definition; some need more elements than others.
System some_call(const Definition& d) {
  conformance::Draw draw(std::string(d.name) + " passes");
  for (const std::int64_t elements : {24, 100, 400}) {
    const auto assignment = conformance::draw_assignment(d, draw, {.elements = elements, .edges = false}, DType::f32);
    if (!assignment) continue;
    const auto call = conformance::call_of(d, *assignment, DType::f32);
    REQUIRE(call);
    return conformance::instance_of(*call).system;
  }
  FAIL(d.name << ": no call was drawn");
  return {};
}

}  // namespace

TEST_CASE("every_operation_and_its_derivatives_keep_every_bit", "[passes][library]") {
  Tally tally;
  for (const Sample& sample : samples()) {
    INFO(sample.operation);
    check_with_derivatives(
        instantiate(definition_named(sample.operation), sample.operands, sample.packs, sample.attributes).system, tally);
  }
  REQUIRE(!library().empty());
  for (const Definition* d : library()) {
    INFO(d->name);
    const System forward = some_call(*d);
    Tally own;
    check_with_derivatives(forward, own);
    CHECK((own.numbers > 0 || !has_real_output(forward)));
    CHECK((own.rationals > 0 || own.algebraic == 0 || !has_real_output(forward)));
    tally.systems += own.systems;
    tally.exact += own.exact;
  }
  CAPTURE(tally.systems, tally.exact);
  CHECK(2 * tally.exact > tally.systems);  // more than half of the library and its derivatives is algebraic
}
