#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../spec/notation_samples.hpp"
#include "compiled/pipeline.hpp"
#include "compiled/plan/plan.hpp"
#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "conformance/shapes.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/system/simplify.hpp"

using namespace etalon;
using namespace etalon::spec;
using etalon::reference::Array;

namespace {

/// Reals off and on the places where definitions bend; integers that are often valid indices.
std::vector<Array<double>> draw(const System& system, std::uint32_t seed) {
  std::mt19937 random(seed);
  const double special[] = {0.0, -0.0, 1.0, -1.0, HUGE_VAL, std::nan("")};
  std::vector<Array<double>> inputs;
  for (const TensorId t : system.inputs) {
    Array<double> a(kind_of(system[t].dtype), system[t].dims);
    for (double& x : a.real) {
      const auto word = static_cast<std::uint32_t>(random());
      x = word % 16 == 0 ? special[(word >> 8U) % 6] : (static_cast<double>(word >> 8U) - 8388608.0) / 3000017.0;
    }
    for (std::int64_t& n : a.integer) {
      const auto word = static_cast<std::uint32_t>(random());
      n = kind_of(system[t].dtype) == Kind::boolean ? word % 2 : static_cast<std::int64_t>(word % 6) - 1;
    }
    inputs.push_back(std::move(a));
  }
  return inputs;
}

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

void check_pipeline(const System& before) {
  System after = before;
  compiled::PipelineOptions options;
  options.verify = true;
  compiled::optimise(after, options);
  // Solving may change the order of a sum (docs/decisions/0004-derivatives.md); it is held to literal evaluation in
  // tests/spec. Everything after it keeps every bit.
  System solved = before;
  spec::solve_guards(solved);
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    const std::vector<Array<double>> inputs = draw(before, seed);
    const auto expected = reference::evaluate<double>(solved, std::span<const Array<double>>(inputs));
    const auto found = reference::evaluate<double>(after, std::span<const Array<double>>(inputs));
    INFO(to_text(before) << "\nbecame\n" << to_text(after));
    CHECK(same_bits(expected, found));
  }
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

void check_with_derivatives(const System& forward) {
  check_pipeline(forward);
  const std::vector<std::size_t> wrt = real_inputs(forward);
  if (wrt.empty() || !has_real_output(forward)) return;
  check_pipeline(jvp(forward, wrt));
  check_pipeline(vjp(forward, wrt));
}

}  // namespace

TEST_CASE("every_operation_and_its_derivatives_keep_every_bit", "[passes][library]") {
  for (const Sample& sample : samples()) {
    INFO(sample.operation);
    check_with_derivatives(
        instantiate(definition_named(sample.operation), sample.operands, sample.packs, sample.attributes).system);
  }
  std::size_t drawn = 0;
  for (const Definition* d : library()) {
    INFO(d->name);
    conformance::Draw draw(std::string(d->name) + " passes");
    const auto assignment = conformance::draw_assignment(*d, draw, {.elements = 24, .edges = false}, DType::f32);
    if (!assignment) continue;
    const auto call = conformance::call_of(*d, *assignment, DType::f32);
    REQUIRE(call);
    check_with_derivatives(conformance::instance_of(*call).system);
    ++drawn;
  }
  CHECK(drawn * 10 >= library().size() * 9);
}
