// Reductions in parts: which are, and that parts change no bit.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/module_text.hpp"
#include "cuda/split.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using cuda::Parts;

namespace {

struct Long {
  const char* program;
  std::size_t kernels;  ///< with those that make parts
};

/// Few results of many terms: none, one or several blocks behind the last whole part, rows and columns, sums and what is exact.
const std::vector<Long> all{
    {"input x : f32[300000]\ny = mean(x)\noutput y\n", 2},
    {"input x : f32[262144]\ny = sum(x)\noutput y\n", 2},
    {"input x : f64[90001]\ny = sum(x)\noutput y\n", 2},
    {"input x : f32[3, 70000]\ny = sum(x) {axes = [1]}\nz = mul(y, y)\noutput z\n", 2},
    {"input x : f32[5000, 37]\ny = sum(x) {axes = [0]}\noutput y\n", 2},
    {"input x : f64[2111, 40]\ny = sum(x) {axes = [0]}\noutput y\n", 2},
    {"input x : f32[100000]\ny = max(x)\noutput y\n", 2},
    {"input x : i64[100000]\ny = sum(x)\noutput y\n", 2},
    {"input x : f32[200000]\ny = logsumexp(x)\nz = max(x)\noutput z\n", 2},
    {"input x : f32[40, 70]\ny = sum(x) {axes = [1]}\noutput y\n", 1},
};

}  // namespace

TEST_CASE("parts of a chain's blocks are powers of two and cover them all", "[cuda]") {
  for (std::int64_t blocks = 1; blocks < 300; ++blocks) {
    for (const std::int64_t most : {1, 2, 7, 16, 64}) {
      INFO(blocks << " blocks in at most " << most << " parts");
      const Parts parts = cuda::parts_of(blocks, 10, most);
      const std::int64_t each = parts.length / 10;
      REQUIRE(each * 10 == parts.length);
      CHECK((each & (each - 1)) == 0);
      CHECK(parts.count() <= most);
      CHECK(parts.whole * each <= blocks);
      CHECK(blocks - parts.whole * each < each);
      CHECK(parts.rest == (blocks != parts.whole * each));
    }
  }
}

TEST_CASE("long reductions are done in parts, with the processor's bits", "[cuda][emulator]") {
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(9);
  for (const Long& one : all) {
    INFO(one.program);
    const spec::System system = spec::lower(spec::parse_program(one.program));
    CHECK(cuda::module_text(compiled::lower_to_loops(system, {}, {}, cuda::machine)).kernels.size() == one.kernels);
    const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
    const std::vector<HostTensor> expected = compiled::compile_system(system, on(nullptr)).run(inputs);
    REQUIRE(expected.size() == 1);
    CHECK(same_bits(compiled::compile_system(system, on(emulator)).run(inputs), expected));
  }
}
