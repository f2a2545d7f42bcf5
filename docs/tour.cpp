// A tour of Etalon in one sitting. This file is an essay and a program: it is built and run as a test, and every
// sentence that can be checked is checked. Read it from top to bottom.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/executable.hpp"
#include "reference/backend.hpp"
#include "reference/bounds/envelope.hpp"
#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"

using namespace etalon;
namespace hana = boost::hana;
using reference::Tensor;

namespace {

int claims = 0;

/// Ends the tour at the first sentence that is not so.
void so(bool holds, const char* sentence) {
  if (!holds) {
    std::printf("not so: %s\n", sentence);
    std::exit(1);
  }
  ++claims;
}

void chapter(const char* title) { std::printf("%s\n", title); }

// 1. An operation is a text.
//
// Everything that Etalon knows of softmax is its definition: a few equations over named extents. The parser, the type
// checker, the evaluator, both derivatives, the error bound and the compiler read this text and nothing else.
void a_definition_is_a_text() {
  chapter("1. an operation is a text");
  const spec::Definition* softmax = spec::find_definition("softmax");
  so(softmax != nullptr, "the library has softmax");
  so(spec::find_definition("sotfmax") == nullptr, "and nothing by a mistyped name");
}

// 2. Shapes are types.
//
// On the reference a tensor carries its shape in its type, and a call computes the type of its result by running the
// definition's typing at compile time. `ops::matmul(a, ops::transpose...)` with unequal inner extents does not compile,
// and the message is `matmul: k is 3 in a, 4 in b`.
void shapes_are_types() {
  chapter("2. shapes are types");
  const Tensor<double, Shape<2, 3>> a{1, 2, 3, 4, 5, 6};
  const Tensor<double, Shape<3, 2>> b{1, 0, 0, 1, 1, 1};
  const auto c = ops::matmul(a, b);
  static_assert(decltype(c)::dims == Dims{2, 2});
  so(c.values() == std::vector<double>{4, 5, 10, 11}, "the product is the one worked by hand");
}

// 3. Any number type.
//
// The same call over 50-digit numbers is an oracle for the call over doubles; over rationals it is exact.
void any_number_type() {
  chapter("3. any number type");
  using reference::Real50;
  const auto probability = [](auto x) { return ops::softmax(x); };
  const auto wide = probability(Tensor<Real50, Shape<2>>{Real50(0), Real50(1)});
  const auto narrow = probability(Tensor<double, Shape<2>>{0, 1});
  const double error = std::abs(narrow[0] - static_cast<double>(wide[0]));
  so(error <= 0x1p-52, "softmax in doubles is right to the last bits here");
}

// 4. Derivatives, twice over.
//
// Forward mode is the definition itself, run on dual numbers. Reverse mode is, by definition, its transpose. The
// symbolic derivative is something else: equations made from equations, which can be compiled and differentiated again.
// The two share no code, and tests compare them to forty digits.
void derivatives() {
  chapter("4. derivatives");
  const auto f = [](auto x, auto w) { return ops::sum(ops::tanh(x * w)); };
  const Tensor<double, Shape<2>> x{0.5, -1};
  const Tensor<double, Shape<2>> w{2, 3};
  const auto gradients = reference::gradient(f, x, w);
  const double by_hand = 2 * (1 - std::tanh(1.0) * std::tanh(1.0));
  so(std::abs(hana::at_c<0>(gradients)[0] - by_hand) <= 0x1p-50, "the gradient is w (1 - tanh(x w)^2)");
}

// 5. A lambda is a program.
//
// The lambda that ran on the reference also runs on traced values, which write down what happens: a program, with the
// line of this file beside each call. A program prints as text, reads back, and lowers to one system of equations.
spec::Program traced() {
  chapter("5. a lambda is a program");
  const spec::Program program = trace<f32, Shape<8, 3>, Shape<4, 3>, Shape<4>>(
      [](auto x, auto w, auto b) { return ops::relu(ops::linear(x, w, b)); }, {"x", "w", "b"});
  so(spec::parse_program(spec::to_text(program)) == program, "its text reads back as the same program");
  so(!spec::lower(program).equations.empty(), "it is a system of equations");
  return program;
}

HostTensor ramp(const Dims& dims, float scale) {
  std::vector<float> values(static_cast<std::size_t>(dims.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * std::sin(static_cast<float>(i) + 1);
  return HostTensor::of(dims, values);
}

// 6. Compiled, and held to the definition.
//
// The compiled backend makes machine code of the same equations. How far may its answers be from the reference's? No
// number was ever chosen for that: from the equations, the inputs and the backend's contract follows, element by
// element, the interval that holds every conforming evaluation, for any order of summation, with or without FMA.
void compiled_and_judged(const spec::Program& program) {
  chapter("6. compiled, and held to the definition");
  const std::vector<HostTensor> inputs{ramp({8, 3}, 1), ramp({4, 3}, 2), ramp({4}, 0.5F)};
  std::vector<HostTensor> outputs = compiled::compile(program).run(inputs);
  const spec::Contract contract = compiled::make_cpu_backend({})->describe().contract;
  const reference::Envelopes envelopes = reference::envelopes(spec::lower(program), inputs, contract);
  const reference::Verdict verdict = reference::judge(outputs, envelopes);
  so(verdict.comparisons == 32, "all 32 elements were compared");
  so(verdict.passed(), "and all lie where they must");

  outputs[0].view<float>()[7] += 0x1p-10F;
  const reference::Verdict caught = reference::judge(outputs, envelopes);
  so(!caught.passed() && caught.first_offender == 7, "a wrong element is found and named");
}

// 7. A training step is one program.
//
// Forward pass, gradient and update stand in one program, so that they become one compiled function. Parameters live in
// a store between runs; an update writes the new value there.
void a_training_step() {
  chapter("7. a training step is one program");
  Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, {8, 3});
  const Traced y = tracer.input("y", DType::f32, {8, 1});
  const Traced w = tracer.parameter("w", DType::f32, {1, 3});
  const Traced loss = ops::mse(ops::linear(x, w, spec::absent), y);
  tracer.assign(w, w - 0.1 * gradient(loss, w));
  tracer.output("loss", loss);

  const compiled::Executable step = compiled::compile(tracer.finish());
  compiled::Store store;
  step.declare(store);
  store.write("w", HostTensor(DType::f32, {1, 3}));
  const HostTensor inputs = ramp({8, 3}, 1);
  const HostTensor targets = ramp({8, 1}, 1);
  std::vector<float> losses;
  for (int n = 0; n < 20; ++n) {
    losses.push_back(step.run(store, {{"x", inputs}, {"y", targets}})[0].view<float>()[0]);
  }
  so(losses.back() < losses.front(), "twenty steps lower the loss");
}

// 8. Backends answer requests.
//
// Every backend, ours and a stranger's, is reached through one interface: a program, numbers, and what is asked (values,
// JVP, VJP). `etalon conform` holds a backend to every definition through it; `etalon serve` speaks the same requests as
// JSON lines, so that the reference can be the oracle of other people's test suites.
void backends() {
  chapter("8. backends answer requests");
  spec::Request request;
  request.id = "tour";
  request.mode = spec::Mode::vjp;
  request.program = spec::parse_program("input x : f64[3]\ny = exp(x)\noutput y\n");
  request.inputs = {HostTensor::of<double>({3}, {0, 1, 2})};
  request.wrt = {true};
  request.cotangents = {HostTensor::of<double>({3}, {1, 0, 2})};
  const spec::Answer answer = reference::make_reference_backend()->run(request);
  const auto& numbers = std::get<spec::Numbers>(answer);
  const auto cotangent = numbers.cotangents[0]->view<double>();
  so(cotangent[0] == 1 && cotangent[1] == 0, "the cotangent of exp at 0 is the one that came in; none gives none");
  so(std::abs(cotangent[2] - 2 * std::exp(2.0)) <= 0x1p-48, "and at 2 it is scaled by e^2");
}

}  // namespace

int main() {
  a_definition_is_a_text();
  shapes_are_types();
  any_number_type();
  derivatives();
  compiled_and_judged(traced());
  a_training_step();
  backends();
  std::printf("%d claims hold\n", claims);
  return claims > 10 ? 0 : 1;
}
