#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/homes.hpp"
#include "passes_checked_plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "passes_execution.hpp"

namespace etalon::test {

using compiled::Plan;
using compiled::PlanOptions;

Plan checked_plan(const spec::System& system, const PlanOptions& options) {
  const Plan plan = compiled::plan(system, options);
  compiled::check_plan(system, plan, options);
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    const std::vector<HostTensor> inputs = draw_inputs(system, seed);
    const std::vector<HostTensor> expected = execute(system, inputs);
    std::vector<HostTensor> outputs;
    std::vector<HostTensor> left = inputs;
    const Outcome outcome = execute(system, plan, inputs, seed);
    for (std::size_t o = 0; o < expected.size(); ++o) {
      const auto update =
          std::find_if(options.updates.begin(), options.updates.end(), [o](const auto& u) { return u.output == o; });
      if (update != options.updates.end()) left[update->input] = expected[o];
      outputs.push_back(update != options.updates.end() ? outcome.inputs[update->input] : outcome.outputs[o]);
    }
    REQUIRE(same_bits(outputs, expected));
    REQUIRE(same_bits(outcome.inputs, left));
  }
  return plan;
}

}  // namespace etalon::test
