// Derivatives of what a program computes, over boxes of its input: the residual of a differential equation, the decrease of a
// Lyapunov function, a corridor about a solution. What holds is known from calculus, in fifty digits.
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "bounds_boxes.hpp"
#include "spec/program/program.hpp"

namespace etalon {
namespace {

using namespace bounds_test;
using Number = boost::multiprecision::cpp_bin_float_50;

/// One range for each output, a single number, where x lies in the box.
std::vector<OutputRange> ranges_over(const std::string& text, const Box& box, Narrowing narrowing) {
  const spec::Program program = spec::parse_program(text);
  std::vector<HostTensor> inputs;
  std::vector<std::optional<Box>> boxes;
  for (const spec::Input& input : program.inputs) {
    inputs.push_back(input.value ? *input.value : HostTensor(input.dtype, input.dims));
    boxes.push_back(input.name == "x" ? std::optional(box) : std::nullopt);
  }
  std::vector<Combination> each;
  for (std::size_t output = 0; output < program.outputs.size(); ++output) each.push_back({{output, 0, 1}});
  return reference::ranges(spec::lower(program), inputs, boxes, {}, each, narrowing);
}

bool lies_in(const OutputRange& range, const Number& value) { return range.lower <= value && value <= range.upper; }
double width(const OutputRange& range) { return range.upper - range.lower; }

/// u(x) = Σ v tanh(w x + b), and u'' + u beside its derivatives.
constexpr const char* network = R"(input x : f64[1, 1]
constant w : f64[3, 1] = [0.5, -1.5, 2]
constant b : f64[3] = [0.25, 0.5, -1]
constant v : f64[1, 3] = [1, 0.5, -0.75]
constant one : f64[1, 1] = [1]
h = linear(x, w, b)
t = tanh(h)
u = linear(t, v, _)
du = jvp(u; x; one)
ddu = jvp(du; x; one)
residual = add(ddu, u)
output u, du, ddu, residual
)";

/// The same, by the derivatives of tanh.
std::array<Number, 4> network_at(double x) {
  constexpr std::array w{0.5, -1.5, 2.0}, b{0.25, 0.5, -1.0}, v{1.0, 0.5, -0.75};
  Number u = 0, du = 0, ddu = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Number t = tanh(Number(w[i]) * x + b[i]), slope = 1 - t * t;
    u += v[i] * t;
    du += v[i] * w[i] * slope;
    ddu += v[i] * w[i] * w[i] * -2 * t * slope;
  }
  return {u, du, ddu, ddu + u};
}

}  // namespace

TEST_CASE("a network's derivatives, and the residual of its equation, are bounded over boxes", "[fields]") {
  constexpr double size = 1.0 / 16;
  std::size_t compared = 0;
  for (const Narrowing narrowing : narrowings) {
    for (int cell = -16; cell < 16; ++cell) {
      const double low = cell * size;
      const std::vector<OutputRange> found = ranges_over(network, {{low}, {low + size}}, narrowing);
      REQUIRE(found.size() == 4);
      for (std::size_t output = 0; output < found.size(); ++output) {
        CHECK(width(found[output]) < 2);
        for (int i = 0; i <= 8; ++i) {
          CHECK(lies_in(found[output], network_at(low + size * i / 8)[output]));
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 4 * 32 * 4 * 9);
}

TEST_CASE("a Lyapunov function decreases in every box that does not reach the origin", "[fields]") {
  // x' = (-x + tanh(y)/2, -y + tanh(x)/2), V = x² + y²; then V' <= -x² - y².
  const std::string text = R"(input x : f64[2]
constant half : f64[] = 0.5
r = neg(x)
t = tanh(x)
s = flip(t) {axes = [0]}
p = mul(s, half)
f = add(r, p)
q = mul(x, x)
V = sum(q)
dV = jvp(V; x; f)
output dV
)";
  constexpr double size = 1.0 / 8;
  std::size_t decided = 0;
  for (int i = -8; i < 8; ++i) {
    for (int j = -8; j < 8; ++j) {
      if (i >= -2 && i < 2 && j >= -2 && j < 2) continue;
      const Box box{{i * size, j * size}, {(i + 1) * size, (j + 1) * size}};
      const OutputRange found = ranges_over(text, box, Narrowing::both).front();
      CHECK(found.upper < 0);
      // Its least is below what is found at the centre.
      const Number x = (i + 0.5) * size, y = (j + 0.5) * size;
      CHECK(found.lower <= Number(2 * (x * (-x + tanh(y) / 2) + y * (-y + tanh(x) / 2))));
      ++decided;
    }
  }
  CHECK(decided == 16 * 16 - 16);
  // At the origin nothing decreases.
  CHECK(ranges_over(text, {{-size, -size}, {size, size}}, Narrowing::both).front().upper >= 0);
}

TEST_CASE("the solution lies in the corridor that a bounded residual gives", "[fields]") {
  // u = 1 - x + x²/2 - x³/6 for u' = -u: u' + u is -x³/6 but for what the double of 1/6 is off by, and u is off by at most the integral
  // of what that is bounded by.
  const auto residual_at = [](const Number& x) -> Number {
    const Number third = 0.16666666666666666;
    return -1 + x - 3 * third * x * x + (1 - x + x * x / 2 - third * x * x * x);
  };
  const std::string text = R"(input x : f64[]
constant one : f64[] = 1
constant second : f64[] = 0.5
constant third : f64[] = 0.16666666666666666
a = mul(x, x)
b = mul(a, x)
c = mul(a, second)
d = mul(b, third)
e = sub(one, x)
g = add(e, c)
u = sub(g, d)
du = jvp(u; x; one)
residual = add(du, u)
output u, residual
)";
  constexpr double size = 1.0 / 64;
  double corridor = 0;
  std::size_t compared = 0;
  for (int cell = 0; cell < 32; ++cell) {
    const double low = cell * size, high = low + size;
    const std::vector<OutputRange> found = ranges_over(text, {{low}, {high}}, Narrowing::both);
    const OutputRange& residual = found.at(1);
    for (const double x : {low, high}) CHECK(lies_in(residual, residual_at(x)));
    CHECK(width(residual) < 0.01);
    corridor += size * std::max(std::abs(residual.lower), std::abs(residual.upper));
    CHECK(lies_in({found[0].lower - corridor, found[0].upper + corridor}, exp(Number(-high))));
    ++compared;
  }
  CHECK(compared == 32);
  CHECK(corridor < 0.01);
}

}  // namespace etalon
