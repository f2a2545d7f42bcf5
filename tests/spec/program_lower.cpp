#include <catch2/catch.hpp>

#include <set>

#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

/// The outputs by the reference, as doubles.
[[nodiscard]] std::vector<std::vector<double>> run(std::string_view text, const std::vector<HostTensor>& inputs) {
  Request request;
  request.program = parse_program(text);
  request.inputs = inputs;
  const Answer answer = reference::make_reference_backend()->run(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) throw SpecViolation(refusal->why);
  std::vector<std::vector<double>> values;
  for (const HostTensor& t : std::get<Numbers>(answer).outputs) {
    const auto view = t.view<double>();
    values.emplace_back(view.begin(), view.end());
  }
  return values;
}

using Rows = std::vector<std::vector<double>>;

}  // namespace

TEST_CASE("a program lowers to one system that the verifier accepts", "[program]") {
  const Program program = parse_program(R"(input x : f64[2, 3]
parameter w : f64[3, 4]
index n : i64[] in 0..9
h = softmax(x) @ "net.cpp":14 section "forward"
h2 = softmax(h) @ "net.cpp":15
y = matmul(h2, w)
s = sum(y)
g = vjp(s; w)
output s, g
update w := g
)");
  const System system = lower(program);
  verify(system);
  REQUIRE(system.inputs.size() == 3);
  CHECK(system[system.inputs[0]].name == "x");
  CHECK(system[system.inputs[2]].range == std::pair<std::int64_t, std::int64_t>(0, 9));
  REQUIRE(system.outputs.size() == 3);
  CHECK(system[system.outputs[0]].name == "s");
  CHECK(system[system.outputs[1]].name == "g");
  std::set<TensorId> distinct(system.outputs.begin(), system.outputs.end());
  CHECK(distinct.size() == 3);
  std::set<std::string> names;
  for (const TensorInfo& t : system.tensors) CHECK(names.insert(t.name).second);
  CHECK(names.count("h.top") == 1);
  CHECK(names.count("h2.top") == 1);
}

TEST_CASE("every equation knows the operation, the clause and the user's line", "[program]") {
  const System system = lower(parse_program("input x : f64[2] @ \"a.cpp\":1\nh = tanh(x) @ \"net.cpp\":14 section \"forward\"\n"
                                            "s = sum(h) @ \"net.cpp\":15\ng = vjp(s; x) @ \"net.cpp\":16\noutput g\n"));
  std::size_t of_tanh = 0;
  for (const Equation& e : system.equations) {
    REQUIRE(e.origin >= 0);
    const Origin& origin = system.origins[static_cast<std::size_t>(e.origin)];
    CHECK(origin.file == "net.cpp");
    CHECK(origin.line >= 14);
    if (origin.operation == "tanh") {
      CHECK(origin.line == 14);
      CHECK(origin.section == "forward");
      CHECK(origin.clause.find("tanh(x[...])") != std::string::npos);
      ++of_tanh;
    }
  }
  CHECK(of_tanh >= 2);  // the value and its derivative, which comes from the forward line
}

TEST_CASE("every equation knows its step, also what derivatives split off an earlier one", "[program]") {
  const Program program = parse_program("input x : f64[3]\nparameter w : f64[3]\np = softmax(x)\nl = mul(p, w)\ns = sum(l)\ng, d = vjp(s; x, w)\n"
                                        "w[i] -= 0.1*d[i]\noutput g\nupdate w := w\n");
  std::vector<std::size_t> steps;
  const System system = lower(program, steps);
  REQUIRE(steps.size() == system.equations.size());
  CHECK(to_text(system) == to_text(lower(program)));
  const auto step_of = [&](const std::string& name) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (system[system.equations[i].target].name == name) return steps[i];
    }
    return steps.size();
  };
  const std::vector<std::pair<std::string, std::size_t>> expected{{"p.top", 0}, {"p.e", 0}, {"p", 0}, {"l", 1}, {"s", 2}, {"g.seed", 3}, {"g", 3}, {"d", 3}, {"w.2", 4}};
  for (const auto& [name, step] : expected) {
    INFO(name);
    CHECK(step_of(name) == step);
  }
  // What the derivative names stands before the equation that it was part of, and stays with its step.
  for (std::size_t i = 1; i < steps.size(); ++i) CHECK(steps[i - 1] <= steps[i]);
}

TEST_CASE("gradients by inputs, parameters and intermediate values, worked by hand", "[program]") {
  // s = sum((x w)^2) with x = (1, 2), w = 3: h = (3, 6), ds/dx = 2 h w = (18, 36), ds/dw = 2 (3·1 + 6·2) = 30, ds/dh = (6, 12).
  const Rows found = run(R"(input x : f64[2]
parameter w : f64[]
input other : f64[2]
h = mul(x, w)
q = mul(h, h)
s = sum(q)
gx, gw, gh, go = vjp(s; x, w, h, other)
output s, gx, gw, gh, go
)", {HostTensor::of<double>({2}, {1, 2}), HostTensor::of<double>({}, {3}), HostTensor::of<double>({2}, {5, 5})});
  CHECK(found == Rows{{45}, {18, 36}, {30}, {6, 12}, {0, 0}});
}

TEST_CASE("tangents and cotangents with seeds, worked by hand", "[program]") {
  // y = x^2: tangent 2 x dx, cotangent 2 x dy.
  const Rows found = run(R"(input x : f64[2]
input d : f64[2]
y = mul(x, x)
t = jvp(y; x; d)
c = vjp(y; x; d)
same = vjp(y; y; d)
output t, c, same
)", {HostTensor::of<double>({2}, {1, 3}), HostTensor::of<double>({2}, {10, -1})});
  CHECK(found == Rows{{20, -6}, {20, -6}, {10, -1}});
}

TEST_CASE("an intermediate value among the inputs does not hide their paths", "[program]") {
  // y = h^2, h = 3 x: with x = 2, dx = 1 and dh = 10 the tangent is 2 h (3 dx + dh) = 12·13 = 156.
  const Rows found = run(R"(input x : f64[]
input dx : f64[]
input dh : f64[]
h = add(x, x)
h3 = add(h, x)
y = mul(h3, h3)
t = jvp(y; x, h3; dx, dh)
output t
)", {HostTensor::of<double>({}, {2}), HostTensor::of<double>({}, {1}), HostTensor::of<double>({}, {10})});
  CHECK(found == Rows{{156}});
}

TEST_CASE("derivatives of derivatives, worked by hand", "[program]") {
  // y = x^3 at 2: y' = 12, y'' = 12, y''' = 6.
  const Rows found = run(R"(input x : f64[]
q = mul(x, x)
y = mul(q, x)
g = vjp(y; x)
g2 = vjp(g; x)
g3 = vjp(g2; x)
output y, g, g2, g3
)", {HostTensor::of<double>({}, {2})});
  CHECK(found == Rows{{8}, {12}, {12}, {6}});
}

TEST_CASE("an integer scalar is a run-time attribute and a slice", "[program]") {
  // p - lr g with p = 1, g = 2, lr = n = 3, momentum 0: -5; row 3 of the data.
  const Rows found = run(R"(input p : f64[]
input g : f64[]
input m : f64[]
input data : f64[5, 2]
index n : i64[] in 0..4
q, m1 = sgd(p, g, m, n) {lr = $n}
row = gather(data, n) {axis = 0}
output q, row
)", {HostTensor::of<double>({}, {1}), HostTensor::of<double>({}, {2}), HostTensor::of<double>({}, {0}),
     HostTensor::of<double>({5, 2}, {0, 1, 10, 11, 20, 21, 30, 31, 40, 41}), HostTensor::of<std::int64_t>({}, {3})});
  CHECK(found == Rows{{-5}, {30, 31}});
}
