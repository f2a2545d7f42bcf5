// A constant that an attribute gives is zero only where it is zero.
#include <catch2/catch.hpp>

#include <string>
#include <variant>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "reference/backend.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

std::vector<HostTensor> answer(spec::Backend& backend, const std::string& text, const std::vector<HostTensor>& inputs) {
  spec::Request request;
  request.program = spec::parse_program(text);
  request.inputs = inputs;
  const spec::Answer given = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&given)) FAIL(refusal->why);
  return std::get<spec::Numbers>(given).outputs;
}

/// Small integers go in, so that both are exact.
void check_same(const std::string& text, const std::vector<HostTensor>& inputs) {
  const auto want = answer(*reference::make_reference_backend(), text, inputs);
  const auto got = answer(*compiled::make_cpu_backend(), text, inputs);
  REQUIRE(got.size() == want.size());
  for (std::size_t o = 0; o < want.size(); ++o) CHECK(got[o] == want[o]);
}

}  // namespace

TEST_CASE("values cut off at an attribute are not asked as if they were cut off at zero", "[sound][compiled]") {
  for (const std::string c : {"0.5", "-0.5", "0.0", "2.0"}) {
    INFO(c);
    check_same("definitions\nf(x[n, m]) {c} -> y[n], z[n], w[n]\n"
               "  h[i] = sum[k] x[i, k]\n"
               "  y[i] = if h[i] <= c then c else h[i]\n"
               "  z[i] = if h[i] <= 0 then 1 else 2\n"
               "  w[i] = if h[i] <= c then 3 else 4\nend definitions\n"
               "input x : f32[40, 3]\ny, z, w = f(x) {c = " + c + "}\noutput y\noutput z\noutput w\n",
               {small_integers(DType::f32, {40, 3}, 1)});
  }
}

TEST_CASE("a border filled with an attribute's number is not taken for zeros", "[sound][compiled]") {
  for (const std::string c : {"0.5", "-2.0", "0.0"}) {
    INFO(c);
    check_same("definitions\nf(x[b, d, n, m], w[e, d, s, t]) {c} -> y[b, e, n, m]\n"
               "  y[p, f, i, j] = sum[g, u, v] (x[p, g, i + u - 1, j + v - 1] else c)*w[f, g, u, v]\nend definitions\n"
               "input x : f32[2, 8, 20, 20]\ninput w : f32[16, 8, 3, 3]\ny = f(x, w) {c = " + c + "}\noutput y\n",
               {small_integers(DType::f32, {2, 8, 20, 20}, 1), small_integers(DType::f32, {16, 8, 3, 3}, 2)});
  }
}
