// Reductions in parts: which are, and that parts change no bit.
#include <catch2/catch.hpp>

#include <algorithm>
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

TEST_CASE("products of great depth and few tiles are done in parts, with the processor's bits", "[cuda][emulator]") {
  struct Deep {
    const char* program;
    std::int64_t whole;  ///< parts but for the last one; 0: none at all
    std::int64_t each;   ///< blocks of 64 terms in each of them
  };
  // Parts are for 132 multiprocessors: 2 tiles of 32 by 32 leave each 66 of them, 32 tiles 4.
  const std::vector<Deep> deep{
      {"input a : f32[40, 1000]\ninput b : f32[1000, 30]\ny = matmul(a, b)\noutput y\n", 15, 1},
      {"input a : f32[40, 9000]\ninput b : f32[9000, 30]\nc = matmul(a, b)\ny = gelu(c)\noutput y\n", 35, 4},
      {"input a : f32[16, 40, 1300]\ninput b : f32[16, 1300, 30]\ny = matmul(a, b)\noutput y\n", 2, 8},
      {"input a : f32[16, 40, 2048]\ninput b : f32[16, 2048, 30]\ninput c : f32[30]\nd = matmul(a, b)\ny = add(d, c)\noutput y\n", 3, 8},
      {"input a : f64[40, 1000]\ninput b : f64[1000, 30]\ny = matmul(a, b)\noutput y\n", 15, 1},
      {"input a : f32[600, 40]\ninput b : f32[30, 600]\nc = transpose(a)\nd = transpose(b)\ny = matmul(c, d)\noutput y\n", 9, 1},
      {"input a : f32[40, 400]\ninput b : f32[400, 30]\ny = matmul(a, b)\noutput y\n", 0, 0},
      {"input a : f32[320, 1000]\ninput b : f32[1000, 300]\ny = matmul(a, b)\noutput y\n", 0, 0},
  };
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(9);
  for (const Deep& one : deep) {
    INFO(one.program);
    const spec::System system = spec::lower(spec::parse_program(one.program));
    const compiled::Compilation made = compiled::lower_to_loops(system, {}, {}, cuda::machine);
    REQUIRE(made.nests.size() == 1);
    const auto split = cuda::split_of(made.system, made.nests.front());
    REQUIRE(split.has_value() == (one.whole > 0));
    if (split) {
      CHECK(split->tiles != nullptr);
      CHECK((split->parts.whole == one.whole && split->parts.length == one.each && split->parts.rest));
    }
    const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
    CHECK(same_bits(compiled::compile_system(system, on(emulator)).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
  }
}

TEST_CASE("weights of a convolution are summed in parts over its images, with the processor's bits", "[cuda][emulator]") {
  const spec::System system = spec::lower(spec::parse_program("input x : f32[4, 16, 13, 13]\ninput k : f32[16, 16, 3, 3]\ninput d : f32[4, 16, 13, 13]\n"
                                                              "y = conv2d(x, k, _) {padding = 1}\ng = vjp(y; k; d)\noutput g\n"));
  const compiled::Compilation made = compiled::lower_to_loops(system, {}, {}, cuda::machine);
  CHECK(std::ranges::any_of(made.nests, [&](const auto& nest) { return cuda::split_of_tiles(made.system, nest).has_value(); }));
  const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
  CHECK(same_bits(compiled::compile_system(system, on(std::make_shared<cuda::emulator::Emulator>(9))).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
}
