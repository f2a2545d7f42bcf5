#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <numeric>

#include "compiled/runtime/executable.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

namespace etalon::test {

// Sums over an axis of 3 whose elements are 3 apart: the fourth lane is 0 / 0, which LLVM takes for 0 where it sees both zeros.
TEST_CASE("what an idle lane divides is not added up", "[compiled][sound]") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const spec::Program program = spec::parse_program(fmt::format(
        "input x : {0}[1, 3]\ninput y : {0}[3, 3]\ninput a : {0}[3, 1]\ninput b : {0}[3, 3]\ninput c : {0}[]\n"
        "q = div(x, y)\nt = transpose(x) {{permutation = [1, 0]}}\nu = transpose(q) {{permutation = [1, 0]}}\n"
        "k = kl_div(u, u) {{log_target = true, reduction = mean}}\n"
        "gx, gy = vjp(t, u, k; x, y; a, b, c)\noutput gx, gy\n",
        name_of(dtype)));
    const auto filled = [&](const Dims& dims, double value) {
      return real_tensor(dtype, dims, std::vector<double>(static_cast<std::size_t>(dims.count()), value));
    };
    HostTensor last = real_tensor(dtype, {3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 1});
    const std::vector<HostTensor> outputs =
        compiled::compile(program).run(std::vector{filled({1, 3}, 0), filled({3, 3}, 1), filled({3, 1}, 0), last, filled({}, 0)});
    INFO(name_of(dtype));
    for (std::size_t i = 0; i < 3; ++i) CHECK(at(outputs[0], i) == (i == 2 ? 1 : 0));
  }
}

// Whether a lane takes part depends on constants alone: LLVM makes masks of eight lanes for it, of indices in 64 bits, and
// has to widen them for elements in 32.
TEST_CASE("a mask of constants says nothing of the lanes above it", "[compiled][sound]") {
  const spec::Program program = spec::parse_program(
      "input v : f32[64]\ninput s : f32[1, 2, 2, 2, 8]\n"
      "y = literal(v) {shape = [1, 2, 2, 2, 8]}\ng = vjp(y; v; s)\noutput g\n");
  std::vector<double> numbers(64);
  std::iota(numbers.begin(), numbers.end(), 1.0);
  const HostTensor v = real_tensor(DType::f32, {64}, numbers);
  const HostTensor s = real_tensor(DType::f32, {1, 2, 2, 2, 8}, numbers);
  const std::vector<HostTensor> outputs = compiled::compile(program).run(std::vector{v, s});
  for (std::size_t i = 0; i < numbers.size(); ++i) CHECK(at(outputs[0], i) == numbers[i]);
}

}  // namespace etalon::test
