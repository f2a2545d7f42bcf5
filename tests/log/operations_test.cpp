// Nobody is convicted who computes what the equations say: every definition, in random programs and their derivatives.
#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "conformance/draw.hpp"
#include "conformance/program_case.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "tests/log/programs.hpp"
#include "tools/log/diff.hpp"

using namespace etalon;
using namespace etalon::logging;
using namespace etalon::logging::tests;

namespace {

/// The case's program with the cotangents of its inputs for given cotangents of its outputs, where it has some.
void differentiate(spec::Program& program, std::vector<HostTensor>& inputs, conformance::Draw& draw) {
  const auto types = types_of(program);
  const auto is_real = [&](const std::string& name) { return kind_of(types.at(name).dtype) == Kind::real; };
  spec::Differentiate step;
  for (const spec::Input& input : program.inputs) {
    if (is_real(input.name) && !input.value) step.wrt.push_back(input.name);
  }
  for (const std::string& output : program.outputs) {
    if (is_real(output)) step.of.push_back(output);
  }
  if (step.wrt.empty() || step.of.empty()) return;
  for (const std::string& output : step.of) {
    spec::Input seed;
    seed.name = "seed." + output;
    seed.dtype = types.at(output).dtype;
    seed.dims = types.at(output).dims;
    inputs.push_back(conformance::draw_real(draw, conformance::Family::normal, seed.dtype, seed.dims));
    step.seeds.emplace_back(seed.name);
    program.inputs.push_back(std::move(seed));
  }
  for (const std::string& name : step.wrt) step.results.push_back("gradient." + name);
  program.outputs.insert(program.outputs.end(), step.results.begin(), step.results.end());
  program.steps.emplace_back(std::move(step));
}

struct Totals {
  std::size_t programs = 0;
  std::size_t elements = 0;
  std::size_t undecided = 0;
};

void hold(const std::string& operation, DType dtype, std::uint64_t index, Totals& totals) {
  conformance::CaseKey key;
  key.operation = operation;
  key.dtype = dtype;
  key.index = index;
  const auto drawn = conformance::make_program_case(key);
  if (!drawn) return;
  spec::Program program = *drawn->program;
  std::vector<HostTensor> inputs;
  for (const auto& operand : drawn->operands) inputs.push_back(*operand);
  conformance::Draw draw(index);
  differentiate(program, inputs, draw);
  INFO(to_text(program));
  const Comparison c = compare(logged_on_reference(program, inputs), logged_on_cpu(program, inputs));
  INFO(to_text(c, {"reference", "cpu"}));
  CHECK(c.within_bounds());
  ++totals.programs;
  totals.elements += c.logs[1].elements;
  totals.undecided += c.logs[1].undecided;
}

Totals hold_all(std::uint64_t first, std::uint64_t last) {
  Totals totals;
  for (const spec::Definition* d : spec::Library().definitions()) {
    for (std::uint64_t index = first; index < last; ++index) hold(std::string(d->name), index % 2 == 0 ? DType::f32 : DType::f64, index, totals);
  }
  return totals;
}

}  // namespace

TEST_CASE("logs of every operation and its derivatives are within their bounds", "[log][operations]") {
  const Totals totals = hold_all(4, 5);  // the first that call several operations and keep to moderate numbers
  CHECK(totals.programs > 100);
  CHECK(totals.elements > 10000);
  CHECK(totals.undecided < totals.elements / 4);
}

TEST_CASE("and of more random programs", "[.search]") { (void)hold_all(1, 7); }
