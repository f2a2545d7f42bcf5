#include "tools/bench/workload.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::bench;

TEST_CASE("every_workload_is_a_program_in_f32_and_f64", "[workload]") {
  std::set<std::string> names;
  for (const Workload& w : all_workloads()) {
    INFO(w.name);
    CHECK(names.insert(w.name).second);
    for (const DType real : {DType::f32, DType::f64}) {
      const spec::Program program = program_of(w, real);
      CHECK(program.inputs.size() >= w.inputs.size());  // and constants
      CHECK_FALSE(program.outputs.empty());
      CHECK(program.updates.empty() == w.compared_state.empty());
    }
    for (const std::string& state : w.compared_state) {
      CHECK(std::any_of(w.inputs.begin(), w.inputs.end(),
                        [&](const InputSpec& i) { return i.name == state && i.is_state; }));
    }
  }
  CHECK(names.size() >= 35);
}

TEST_CASE("large_workloads_stand_beside_the_others", "[workload]") {
  std::set<std::string> names;
  for (const Workload& w : all_workloads()) names.insert(w.name);
  for (const Workload& w : large_workloads()) {
    INFO(w.name);
    CHECK(w.group == "large");
    CHECK(names.insert(w.name).second);
    CHECK(workload_named(w.name).sizes == w.sizes);
    for (const DType real : {DType::f32, DType::f64}) CHECK_FALSE(program_of(w, real).outputs.empty());
  }
  for (const Workload& w : device_workloads()) CHECK(w.quantity == Quantity::run);
}

TEST_CASE("least_bytes_are_those_of_inputs_outputs_and_updates", "[workload]") {
  const auto bytes = [](const std::string& name) { return least_bytes(program_of(workload_named(name), DType::f32)); };
  CHECK(bytes("gemm-4096") == 3 * 4096.0 * 4096 * 4);
  CHECK(bytes("softmax-large") == 2 * 16384.0 * 4096 * 4);
  CHECK(bytes("layer-norm-large") == (2 * 16384.0 * 4096 + 2 * 4096) * 2 * 4);
  // 32 + 16 + 256 + 16 + 16 parameters, as many velocities and the number of the step are read and written, 20 + 10 numbers read, the loss written.
  CHECK(bytes("train-moons") == (2 * 2 * 336.0 + 30 + 1) * 4 + 2 * 8);
}

TEST_CASE("inputs_are_a_function_of_seed_and_workload", "[workload]") {
  const Workload w = workloads_named({"train-moons"}).front();
  const std::vector<HostTensor> once = drawn_inputs(w, 1);
  CHECK(once == drawn_inputs(w, 1));
  CHECK_FALSE(once == drawn_inputs(w, 2));
  for (std::size_t i = 0; i < once.size(); ++i) {
    const InputSpec& spec = w.inputs[i];
    if (spec.dtype != DType::f32) continue;
    for (const float v : once[i].view<float>()) {
      CHECK((spec.values == Values::zeros ? v == 0
                                          : v >= static_cast<float>(spec.low) && v <= static_cast<float>(spec.high)));
      if (spec.values == Values::signs) CHECK((v == 1 || v == -1));
    }
  }
}

TEST_CASE("workloads_are_found_by_name_and_by_group_in_their_own_order", "[workload]") {
  const std::vector<Workload> found = workloads_named({"softmax", "conv"});
  REQUIRE(found.size() == 7);
  CHECK(found.front().name == "conv-16-32-forward");
  CHECK(found.back().name == "softmax");
  CHECK_THROWS_WITH(workloads_named({"sofmax"}), "unknown workload 'sofmax'; did you mean 'softmax'?");
}
