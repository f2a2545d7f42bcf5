// Whole programs on stores, and the backend behind its interface.
#include <catch2/catch.hpp>

#include "compiled/runtime/backend.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/error.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

TEST_CASE("a step updates parameter and state in the store", "[compiled][programs]") {
  const spec::Program program = spec::parse_program(R"(
parameter w : f32[2, 1]
parameter m : f32[2, 1]
input x : f32[4, 2]
input y : f32[4, 1]
index t : i64[] in 1..10
p = matmul(x, w)
loss = mse(p, y)
g = vjp(loss; w)
w1, m1 = sgd(w, g, m, t) {lr = 0.5, momentum = 0.5}
output loss
update w := w1
update m := m1
)");
  for (const bool in_place : {true, false}) {
    compiled::CompileOptions o = options();
    o.plan.in_place = in_place;
    const compiled::Executable step = compiled::compile(program, o);
    compiled::Store store;
    step.declare(store);
    store.write("w", real_tensor(DType::f32, {2, 1}, {1, 0}));
    store.write("m", HostTensor(DType::f32, {2, 1}));
    store.write("y", real_tensor(DType::f32, {4, 1}, {0, 1, 0, 3}));
    store.write("t", HostTensor::of<std::int64_t>({}, {1}));
    const compiled::Executable::Named x{{"x", real_tensor(DType::f32, {4, 2}, {2, 0, 0, 2, 2, 2, 1, -1})}};
    // Every number is a small multiple of a power of two: p = (2, 0, 2, 1), residuals r = (2, -1, 2, -2), loss 13/4;
    // gradient 2/4 · xᵀr = (3, 2), which is the first momentum.
    CHECK(step.run(store, x)[0] == real_tensor(DType::f32, {}, {3.25}));
    CHECK(store.read("w") == real_tensor(DType::f32, {2, 1}, {-0.5, -1}));
    CHECK(store.read("m") == real_tensor(DType::f32, {2, 1}, {3, 2}));
    store.write("t", HostTensor::of<std::int64_t>({}, {11}));
    const HostTensor before = store.read("w");
    CHECK_THROWS_WITH(step.run(store, x), Contains("`t` is 11") && Contains("1..10"));
    CHECK(store.read("w") == before);
    store.write("t", HostTensor::of<std::int64_t>({}, {2}));
    // p = (-1, -2, -3, 1/2), r = (-1, -3, -3, -5/2), loss (1 + 9 + 9 + 25/4)/4; gradient (-21, -19)/4.
    CHECK(step.run(store, x)[0] == real_tensor(DType::f32, {}, {6.3125}));
    CHECK(store.read("m") == real_tensor(DType::f32, {2, 1}, {1.5 - 5.25, 1 - 4.75}));
    CHECK(store.read("w") == real_tensor(DType::f32, {2, 1}, {-0.5 + 1.875, -1 + 1.875}));
    CHECK_THROWS_WITH(step.run(store, {{"w", before}}), Contains("parameter"));
  }
}

TEST_CASE("a step and an evaluation at another batch size share a store", "[compiled][programs]") {
  const spec::Program step = spec::parse_program(R"(
parameter w : f32[2, 1]
input x : f32[3, 2]
p = matmul(x, w)
s = sum(p)
g = vjp(s; w)
w1 = sub(w, g)
update w := w1
)");
  const spec::Program evaluation = spec::parse_program(R"(
parameter w : f32[2, 1]
input many : f32[5, 2]
p = matmul(many, w)
output p
)");
  compiled::Store store;
  const compiled::Executable s = compiled::compile(step, options());
  const compiled::Executable e = compiled::compile(evaluation, options());
  s.declare(store);
  e.declare(store);
  store.write("w", real_tensor(DType::f32, {2, 1}, {10, 20}));
  store.write("x", real_tensor(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}));
  store.write("many", real_tensor(DType::f32, {5, 2}, {1, 0, 0, 1, 1, 1, 2, 0, 0, 2}));
  CHECK(s.run(store).empty());
  const HostTensor p = e.run(store)[0];
  CHECK(p == real_tensor(DType::f32, {5, 1}, {1, 8, 9, 2, 16}));
}

TEST_CASE("assignments and calls become one function that updates the store", "[compiled][programs]") {
  const spec::Program zero = spec::parse_program("parameter acc : f32[2, 1]\nacc[...] = 0\n");
  const spec::Program batch = spec::parse_program(R"(
parameter w : f32[2, 1]
parameter acc : f32[2, 1]
input x : f32[2, 2]
buffer seen : f32[2]
p = matmul(x, w)
q = mul(p, p)
loss = sum(q)
gw = vjp(loss; w)
acc[...] += gw[...]
seen[1 - i] = p[i, 0]
output seen
)");
  const spec::Program descent = spec::parse_program(
      "parameter w : f32[2, 1]\nparameter acc : f32[2, 1]\nw[i, 0] -= 0.5*acc[i, 0]\nacc[i // 2, 0] max= w[i, 0]\noutput w\n");
  for (const bool in_place : {true, false}) {
    compiled::CompileOptions o = options();
    o.plan.in_place = in_place;
    const compiled::Executable resets = compiled::compile(zero, o);
    const compiled::Executable adds = compiled::compile(batch, o);
    const compiled::Executable steps = compiled::compile(descent, o);
    compiled::Store store;
    adds.declare(store);
    store.write("w", real_tensor(DType::f32, {2, 1}, {3, -1}));
    store.write("acc", real_tensor(DType::f32, {2, 1}, {99, 98}));
    CHECK(resets.run(store).empty());
    const auto first = adds.run(store, {{"x", real_tensor(DType::f32, {2, 2}, {1, 2, 3, 4})}});
    CHECK(first[0] == real_tensor(DType::f32, {2}, {5, 1}));
    (void)adds.run(store, {{"x", real_tensor(DType::f32, {2, 2}, {5, 6, -7, 8})}});
    // 2 xᵀ(x w) over both batches: p = (1, 5, 9, -29).
    CHECK(store.read("acc") == real_tensor(DType::f32, {2, 1}, {528, -312}));
    CHECK(steps.run(store)[0] == real_tensor(DType::f32, {2, 1}, {-261, 155}));
    CHECK(store.read("w") == real_tensor(DType::f32, {2, 1}, {-261, 155}));
    CHECK(store.read("acc") == real_tensor(DType::f32, {2, 1}, {528, -312}));
  }
}

TEST_CASE("an executable bound to a store sees what the store holds at each run", "[compiled][programs]") {
  const spec::Program program = spec::parse_program(
      "parameter w : f32[3]\ninput x : f32[3]\nindex n : i64[] in 0..5\n"
      "y = mul(w, x)\nw1 = add(w, x)\noutput y\nupdate w := w1\n");
  const compiled::Executable e = compiled::compile(program);
  compiled::Store store;
  CHECK_THROWS_WITH(e.bind(store), Contains("input `w` is missing"));
  e.declare(store);
  const compiled::Bound bound = e.bind(store);
  std::vector<HostTensor> results;
  CHECK_THROWS_WITH(bound.run_into(results), Contains("`w` has no value yet"));
  store.write("w", real_tensor(DType::f32, {3}, {1, 2, 3}));
  store.write("x", real_tensor(DType::f32, {3}, {10, 20, 30}));
  store.write("n", HostTensor::of<std::int64_t>({}, {6}));
  CHECK_THROWS_WITH(bound.run_into(results), Contains("index `n` is 6, its range is 0..5"));
  store.write("n", HostTensor::of<std::int64_t>({}, {5}));
  bound.run_into(results);
  CHECK(results.at(0) == real_tensor(DType::f32, {3}, {10, 40, 90}));
  CHECK(store.read("w") == real_tensor(DType::f32, {3}, {11, 22, 33}));
  store.write("x", real_tensor(DType::f32, {3}, {1, 1, 1}));
  bound.run_into(results);
  CHECK(results.at(0) == real_tensor(DType::f32, {3}, {11, 22, 33}));
  std::vector<HostTensor> elsewhere;
  bound.run_into(elsewhere);
  CHECK(elsewhere.at(0) == real_tensor(DType::f32, {3}, {12, 23, 34}));
  CHECK(results.at(0) == real_tensor(DType::f32, {3}, {11, 22, 33}));
}

TEST_CASE("compiled assignments lie within the bounds of their equations", "[compiled][programs]") {
  const spec::System system = spec::lower(spec::parse_program(R"(
input x : f32[5, 3]
input d : f32[5, 4]
parameter w : f32[4, 3]
parameter m : f32[4, 3]
buffer blocks : f32[2, 7]
parameter best : f32[3]
blocks[i // 3, j + k] :+= x[i, j]*d[i, k]
buffer grad[i, j] = sum[n] d[n, i]*x[n, j] + 0.01*w[i, j]
m[i, j] *= 0.9
m[i, j] += grad[i, j]
w[i, 2 - j] -= 0.1*m[i, j]
w[2, i] /= 3
best[i % 2] max= exp(x[i, 0])
h = tanh(w)
q = sum(h)
gw = vjp(q; w)
w[...] += gw[...]
output blocks, grad, best
)"));
  spec::verify(system);
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<HostTensor> inputs;
    for (const TensorId id : system.inputs) {
      inputs.emplace_back(DType::f32, system[id].dims);
      for (float& v : inputs.back().view<float>()) v = normal(random);
    }
    const reference::Verdict verdict =
        reference::judge(compiled_values(system, inputs), reference::envelopes(system, inputs, spec::contract_named("cpu")));
    CAPTURE(verdict.message);
    CHECK(verdict.passed());
    CHECK(verdict.undecided == 0);
    CHECK(verdict.comparisons == 2 * 7 + 4 * 3 + 3 + 12 + 12 + 3);
  }
}

TEST_CASE("the backend answers every mode", "[compiled][programs]") {
  const std::unique_ptr<spec::Backend> cpu = compiled::make_cpu_backend(options());
  spec::Request request;
  request.program = spec::parse_program("input x : f64[3]\ninput y : f64[3]\np = mul(x, y)\nq = mul(p, x)\noutput q\n");
  const HostTensor x = real_tensor(DType::f64, {3}, {1, 2, 3});
  const HostTensor y = real_tensor(DType::f64, {3}, {4, 5, 6});
  const HostTensor ones = real_tensor(DType::f64, {3}, {1, 1, 1});
  request.inputs = {x, y};
  request.wrt = {true, false};
  const auto numbers = [&] { return std::get<spec::Numbers>(cpu->run(request)); };
  // q = x² y: q' = 2xy, and the derivative of that along x' = 1 is 2y.
  CHECK(numbers().outputs[0] == real_tensor(DType::f64, {3}, {4, 20, 54}));
  request.mode = spec::Mode::jvp;
  request.tangents = {ones, std::nullopt};
  CHECK(*numbers().tangents[0] == real_tensor(DType::f64, {3}, {8, 20, 36}));
  request.mode = spec::Mode::vjp;
  request.cotangents = {real_tensor(DType::f64, {3}, {1, 0, 2})};
  const spec::Numbers reverse = numbers();
  CHECK(*reverse.cotangents[0] == real_tensor(DType::f64, {3}, {8, 0, 72}));
  CHECK(!reverse.cotangents[1]);
  request.mode = spec::Mode::jvp_of_vjp;
  const spec::Numbers second = numbers();
  CHECK(*second.cotangents[0] == real_tensor(DType::f64, {3}, {8, 0, 72}));
  CHECK(*second.tangents[0] == real_tensor(DType::f64, {3}, {8, 0, 24}));
  request.cotangent_tangents = {ones};
  CHECK(*numbers().tangents[0] == real_tensor(DType::f64, {3}, {16, 20, 60}));
}

TEST_CASE("the backend refuses in words and lives on", "[compiled][programs]") {
  const std::unique_ptr<spec::Backend> cpu = compiled::make_cpu_backend(options());
  spec::Request request;
  request.program = spec::parse_program("input x : f64[3]\ninput y : f64[4]\np = mul(x, y)\noutput p\n");
  const spec::Answer ill_typed = cpu->run(request);
  REQUIRE(std::holds_alternative<spec::Refusal>(ill_typed));
  CHECK(std::get<spec::Refusal>(ill_typed).kind == spec::Refusal::Kind::rejected);
  request.program = spec::parse_program("input x : f16[3]\np = neg(x)\noutput p\n");
  request.inputs = {HostTensor(DType::f16, {3})};
  request.inputs[0].view<std::uint16_t>()[1] = 0x3c00;
  CHECK(std::get<spec::Numbers>(cpu->run(request)).outputs[0] == real_tensor(DType::f16, {3}, {-0.0, -1, -0.0}));
  request.program = spec::parse_program("input x : f32[3]\np = neg(x)\noutput p\n");
  request.inputs = {HostTensor(DType::f32, {2})};
  CHECK(std::holds_alternative<spec::Refusal>(cpu->run(request)));
  request.inputs = {real_tensor(DType::f32, {3}, {1, 2, 3})};
  CHECK(std::get<spec::Numbers>(cpu->run(request)).outputs[0] == real_tensor(DType::f32, {3}, {-1, -2, -3}));
}
