// The three ways of one training, compared.
#pragma once

#include <catch2/catch.hpp>

#include "compiled/runtime/backend.hpp"
#include "reference/backend.hpp"
#include "reference/bounds/envelope.hpp"
#include "three_ways/three_ways.hpp"

namespace etalon::test {

/// Every step of the compiled training lies in what its contract admits, given where the step began.
template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
std::size_t require_conforming(const training::Target& target, const Model<training::Declared>& declared, const Loss& loss,
                               const Batch<Given>& batch, int steps) {
  const State state = state_of(declared);
  spec::Program program = step_of<Model, Batch>(state, loss);
  const training::Routine routine(program, target, state.store());
  for (const spec::Update& u : spec::all_updates(program)) program.outputs.push_back(u.value);
  const std::vector<spec::Update> updates = spec::all_updates(program);
  program.updates.clear();
  const spec::System system = spec::lower(program);
  const spec::Contract contract = compiled::make_cpu_backend({})->describe().contract;
  std::size_t compared = 0;
  for (int step = 0; step < steps; ++step) {
    const Named given = training::named(batch);
    std::vector<HostTensor> inputs;
    for (const spec::Input& input : program.inputs) {
      inputs.push_back(input.value ? *input.value : given.count(input.name) != 0 ? given.at(input.name) : state.store().read(input.name));
    }
    const reference::Envelopes admitted = reference::envelopes(system, inputs, contract);
    const Outcome outcome = routine.run(given);
    REQUIRE(outcome.completed());
    std::vector<HostTensor> got;
    for (const auto& [name, value] : outcome.outputs) got.push_back(value);
    for (const spec::Update& u : updates) got.push_back(state.store().read(u.parameter));
    const reference::Verdict verdict = reference::judge(got, admitted);
    INFO(verdict.message);
    CHECK(verdict.passed());
    CHECK(verdict.comparisons > 10 * verdict.undecided);
    compared += verdict.comparisons;
  }
  return compared;
}

template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
void require_three_ways(const Model<training::Declared>& declared, const Loss& loss, const Batch<Given>& batch, int steps) {
  const auto reference = reference::make_reference_backend();
  const Trajectory tensors = on_tensors<Model>(state_of(declared), loss, batch, steps);
  const Trajectory eager = in_a_session<Model>(*reference, state_of(declared), loss, batch, steps);
  const Trajectory traced = compiled_once<Model>(training::Target::backend(*reference), state_of(declared), loss, batch, steps);
  REQUIRE(tensors.losses.size() == static_cast<std::size_t>(steps));
  CHECK(tensors.losses == traced.losses);
  CHECK(eager.losses == traced.losses);
  for (int step = 0; step < steps; ++step) {
    for (const auto& [name, value] : traced.states[static_cast<std::size_t>(step)]) {
      INFO(name << " after step " << step + 1);
      CHECK(tensors.states[static_cast<std::size_t>(step)].at(name) == value);
      CHECK(eager.states[static_cast<std::size_t>(step)].at(name) == value);
    }
  }
  CHECK(traced.states.front() != traced.states.back());
  const auto cpu = compiled::make_cpu_backend({});
  CHECK(in_a_session<Model>(*cpu, state_of(declared), loss, batch, 1).losses.size() == 1);
  CHECK(require_conforming(training::Target::cpu(), declared, loss, batch, steps) > 100);
}

}  // namespace etalon::test
