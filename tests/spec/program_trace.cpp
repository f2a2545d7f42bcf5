#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

[[nodiscard]] std::vector<HostTensor> run(const Program& program, const std::vector<HostTensor>& given) {
  Request request;
  request.program = program;
  std::size_t next = 0;
  for (const Input& input : program.inputs) request.inputs.push_back(input.value ? *input.value : given.at(next++));
  const Answer answer = reference::make_reference_backend()->run(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) throw SpecViolation(refusal->why);
  return std::get<Numbers>(answer).outputs;
}

}  // namespace

TEST_CASE("a generic lambda becomes a program with the lines of its operations", "[trace]") {
  const std::uint32_t line = __LINE__;
  const auto f = [](auto x, auto w) {
    auto h = ops::matmul(x, w);
    auto r = ops::relu(h);
    return r + 1.0;
  };
  const Program program = trace<f32, Shape<2, 3>, Shape<3, 4>>(f);
  CHECK(parse_program(to_text(program)) == program);
  REQUIRE(program.steps.size() == 3);
  const Call& product = std::get<Call>(program.steps[0]);
  CHECK(product.operation == "matmul");
  CHECK(product.operands == std::vector<std::optional<std::string>>{"x1", "x2"});
  CHECK(product.source.line == line + 2);
  CHECK(product.source.file.find("program_trace.cpp") != std::string::npos);
  CHECK(std::get<Call>(program.steps[1]).source.line == line + 3);
  CHECK(std::get<Call>(program.steps[2]).source.line == line + 4);
  CHECK(types_of(program).at(program.outputs.at(0)) == ValueType{DType::f32, {2, 4}});
}

TEST_CASE("an error in a traced model points at the user's line", "[trace]") {
  std::string message;
  const std::uint32_t line = __LINE__;
  const auto f = [](auto x, auto w) {
    return ops::matmul(x, w);
  };
  try {
    (void)trace<f32, Shape<2, 3>, Shape<4, 4>>(f);
  } catch (const SpecViolation& error) {
    message = error.what();
  }
  CHECK(message.find("matmul: k is 3 in a, 4 in b") == 0);
  CHECK(message.find("program_trace.cpp:" + std::to_string(line + 2)) != std::string::npos);
}

TEST_CASE("plain numbers stand on either side and take the tensor's element type", "[trace]") {
  const auto f = [](auto x) { return std::tuple{2 * x - 1.0, 1 / x, x * 0.1, -x, 3.0 - x}; };
  const Program program = trace<f64, Shape<2>>(f);
  for (const Input& input : program.inputs) CHECK(input.dtype == DType::f64);
  const std::vector<HostTensor> found = run(program, {HostTensor::of<double>({2}, {2, -4})});
  REQUIRE(found.size() == 5);
  CHECK(found[0] == HostTensor::of<double>({2}, {3, -9}));
  CHECK(found[1] == HostTensor::of<double>({2}, {0.5, -0.25}));
  CHECK(found[2] == HostTensor::of<double>({2}, {2 * 0.1, -4 * 0.1}));
  CHECK(found[3] == HostTensor::of<double>({2}, {-2, 4}));
  CHECK(found[4] == HostTensor::of<double>({2}, {1, 7}));
}

TEST_CASE("host arrays are constants without derivative, bit for bit", "[trace]") {
  const HostTensor table = HostTensor::of<float>({2}, {0.1F, -0.0F});
  const auto f = [&](auto x) { return x * table + table; };
  const Program program = trace<f32, Shape<2>>(f);
  REQUIRE(program.inputs.size() == 2);  // used twice, there once
  CHECK(program.inputs[1].role == Role::constant);
  CHECK(*program.inputs[1].value == table);
  CHECK(*parse_program(to_text(program)).inputs[1].value == table);
}

TEST_CASE("gradients in a traced training step", "[trace]") {
  // loss = (w x - y)^2 with w = 3, x = 2, y = 1: 25; dw = 2·5·2 = 20; w1 = 3 - 0.5·20 = -7.
  Tracer tracer(DType::f64);
  const Traced x = tracer.input("x", DType::f64, {});
  const Traced y = tracer.input("y", DType::f64, {});
  const Traced w = tracer.parameter("w", DType::f64, {});
  const Traced error = w * x - y;
  const Traced loss = error * error;
  std::string g_name;
  const std::uint32_t line = __LINE__;
  {
    const auto label = tracer.section("w step");
    const Traced g = gradient(loss, w);
    g_name = g.name();
    tracer.assign(w, w - 0.5 * g);
    tracer.output("g", g);
  }
  tracer.output("loss", loss);
  const Program program = tracer.finish();
  CHECK(g_name == "w.grad");
  CHECK(program.updates.size() == 1);
  CHECK(program.updates[0].parameter == "w");
  std::size_t derivatives = 0;
  for (const auto& step : program.steps) {
    if (const auto* d = std::get_if<Differentiate>(&step)) {
      CHECK(d->source.line == line + 3);
      CHECK(d->source.section == "w step");
      CHECK(d->results == std::vector<std::string>{"g"});
      ++derivatives;
    }
  }
  CHECK(derivatives == 1);
  CHECK(std::get<Call>(program.steps[0]).source.section.empty());
  Program with_update = program;
  with_update.outputs.push_back(program.updates[0].value);
  const std::vector<HostTensor> found =
      run(with_update, {HostTensor::of<double>({}, {2}), HostTensor::of<double>({}, {1}), HostTensor::of<double>({}, {3})});
  CHECK(found[0] == HostTensor::of<double>({}, {20}));
  CHECK(found[1] == HostTensor::of<double>({}, {25}));
  CHECK(found[2] == HostTensor::of<double>({}, {-7}));
}

TEST_CASE("a section inside another carries both labels, and ends with itself", "[program]") {
  Tracer tracer;
  const Traced x = tracer.input("x", DType::f64, {});
  {
    const auto outer = tracer.section("net");
    {
      const auto inner = section(x, "first");
      tracer.output("a", x + x);
    }
    tracer.output("b", x * x);
  }
  tracer.output("c", x - 1.0);
  const Program program = tracer.finish();
  std::vector<std::string> labels;
  for (const auto& step : program.steps) labels.push_back(std::get<Call>(step).source.section);
  CHECK(labels == std::vector<std::string>{"net/first", "net", ""});
}

TEST_CASE("an index slices and serves as a number", "[trace]") {
  // 0.25·(2·8 - 4)/8 = 0.375 exactly.
  Tracer tracer(DType::f64);
  const Traced data = tracer.input("data", DType::f64, {3, 2});
  const Traced n = tracer.index("batch_n", 0, 2);
  const Traced step_n = tracer.index("step_n");
  const int steps = 8;
  tracer.output("row", data[n]);
  tracer.output("rate", 0.25 * (2 * steps - step_n) / steps);
  const std::vector<HostTensor> found = run(tracer.finish(), {HostTensor::of<double>({3, 2}, {0, 1, 2, 3, 4, 5}), HostTensor::of<std::int64_t>({}, {1}),
                                                              HostTensor::of<std::int64_t>({}, {4})});
  CHECK(found[0] == HostTensor::of<double>({2}, {2, 3}));
  CHECK(found[1] == HostTensor::of<double>({}, {0.375}));
}

TEST_CASE("a traced scalar is the value of a run-time attribute", "[trace]") {
  Tracer tracer(DType::f64);
  const Traced p = tracer.parameter("p", DType::f64, {});
  const Traced m = tracer.parameter("m", DType::f64, {});
  const Traced g = tracer.input("g", DType::f64, {});
  const Traced rate = tracer.input("rate", DType::f64, {});
  const Traced t = tracer.index("t", 1, 100);
  const auto [q, m1] = ops::sgd.set("lr", rate).set("momentum", 0.5)(p, g, m, t);
  tracer.output("q", q);
  tracer.output("m1", m1);
  const Program program = tracer.finish();
  const Attributes& attributes = std::get<Call>(program.steps[0]).attributes;
  CHECK(attributes.at("lr") == AttributeValue(ValueName{"rate"}));
  CHECK(attributes.at("nesterov") == AttributeValue(false));  // defaults are filled in
  // t = 2: m1 = 0.5·4 + 3 = 5, q = 1 - 0.25·5 = -0.25.
  const std::vector<HostTensor> found =
      run(program, {HostTensor::of<double>({}, {1}), HostTensor::of<double>({}, {4}), HostTensor::of<double>({}, {3}),
                    HostTensor::of<double>({}, {0.25}), HostTensor::of<std::int64_t>({}, {2})});
  CHECK(found[0] == HostTensor::of<double>({}, {-0.25}));
  CHECK(found[1] == HostTensor::of<double>({}, {5}));
}

TEST_CASE("optional operands, packs, attributes as text and several gradients", "[trace]") {
  const auto f = [](auto x, auto w) {
    auto y = ops::linear(x, w, absent);
    auto s = ops::sum.with<"axes=[0]">(ops::concat(y, y));
    auto total = ops::sum(s);
    auto [gx, gw] = gradient(total, x, w);
    return std::tuple{s, gx, gw};
  };
  const Program program = trace<f64, Shape<1, 2>, Shape<1, 2>>(f, {"x", "w"});
  CHECK(program.inputs[0].name == "x");
  // y = x·w = 11, concat along axis 0 sums to 22; d/dx = 2 w, d/dw = 2 x.
  const std::vector<HostTensor> found = run(program, {HostTensor::of<double>({1, 2}, {1, 2}), HostTensor::of<double>({1, 2}, {3, 4})});
  CHECK(found[0] == HostTensor::of<double>({1}, {22}));
  CHECK(found[1] == HostTensor::of<double>({1, 2}, {6, 8}));
  CHECK(found[2] == HostTensor::of<double>({1, 2}, {2, 4}));
}

TEST_CASE("names are the user's, given once", "[trace]") {
  Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, {2});
  CHECK_THROWS_WITH(tracer.input("x", DType::f32, {}), "trace: x is named a second time; each value is named once");
  CHECK_THROWS_WITH((x + 1.0).named("x"), "trace: x is named a second time; each value is named once");
  CHECK_THROWS_WITH((x + 1.0).named("a b"), "trace: a name is letters, digits, _ and ., and starts with a letter, found 'a b'");
  Tracer other;
  const Traced z = other.input("z", DType::f32, {2});
  CHECK_THROWS_WITH(x + z, "trace: z belongs to another program");
  CHECK_THROWS_WITH(gradient(1.0, x), Catch::Contains("gradient: expected a value of the program, found a constant; at "));
  CHECK_THROWS_WITH(gradient(x, x), Catch::Contains("expected a cotangent of x"));
}
