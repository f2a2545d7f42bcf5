// Maps that are written along one loop and read along another: they go through squares, keep the processor's bits, and warps meet whole sectors
// of memory on both sides.
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/squares.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/noted_accesses.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/sanitized.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

struct Map {
  const char* program;
  std::vector<std::size_t> elements;  ///< of each kernel, that are read by way of a square
};

const std::vector<Map> maps{
    {"input x : f32[70, 45]\ny = transpose(x)\noutput y\n", {1}},
    {"input x : f32[64, 96]\ny = transpose(x)\noutput y\n", {1}},
    {"input x : f64[33, 17]\ny = transpose(x)\nz = mul(y, y)\noutput z\n", {1}},
    {"input x : bf16[40, 64]\ny = transpose(x)\nz = cast(y) {dtype = f32}\noutput z\n", {1}},
    {"input x : i64[40, 64]\ninput z : i32[64]\ny = transpose(x)\nw = cast(y) {dtype = f32}\noutput w\n", {1}},
    // Any permutation: batches outside, or between.
    {"input x : f32[3, 40, 33]\ny = transpose(x) {permutation = [0, 2, 1]}\noutput y\n", {1}},
    {"input x : f32[3, 40, 33]\ny = transpose(x) {permutation = [2, 0, 1]}\noutput y\n", {1}},
    {"input x : f32[20, 3, 33]\ny = transpose(x)\noutput y\n", {1}},
    {"input x : f32[2, 18, 3, 33]\ny = transpose(x) {permutation = [3, 2, 0, 1]}\noutput y\n", {1}},
    // Several elements, some of which lie as they are written.
    {"input x : f32[50, 40]\ninput y : f32[40, 50]\ninput z : f32[50]\nt = transpose(x)\nu = mul(t, y)\nv = mul(u, t)\nw = add(v, z)\noutput w\n", {1}},
    {"input x : f32[50, 40]\ninput y : f64[50, 40]\ns = transpose(x)\nt = transpose(y)\nu = cast(t) {dtype = f32}\nv = mul(s, u)\noutput v\n", {2}},
    // From the end.
    {"input x : f32[50, 40]\ny = flip(x) {axes = [1]}\nz = transpose(y)\noutput z\n", {1}},
    {"input x : f32[50, 40]\ny = transpose(x)\nz = flip(y)\noutput z\n", {1}},
    // Neighbours are neighbours anyway, or one of the loops is short, or an element may be asked for that is not there.
    {"input x : f32[50, 40]\ny = exp(x)\noutput y\n", {0}},
    {"input x : f32[5, 8, 40]\ny = transpose(x) {permutation = [1, 0, 2]}\noutput y\n", {0}},
    {"input x : f32[9, 400]\ny = transpose(x)\noutput y\n", {0}},
    {"input x : f32[50, 40]\ny = pad(x) {low = [1, 2], high = [3, 4]}\nz = transpose(y)\noutput z\n", {0}},
};

std::vector<std::size_t> elements_of(const spec::System& system) {
  const compiled::Compilation made = compiled::lower_to_loops(system, {}, {}, cuda::machine);
  std::vector<std::size_t> all;
  for (const auto& nest : made.nests) {
    const auto squares = cuda::squares_of(made.system, nest);
    all.push_back(squares ? squares->elements.size() : 0);
  }
  return all;
}

}  // namespace

TEST_CASE("a map that is read along another loop than it is written goes through squares, and keeps its bits", "[cuda][emulator]") {
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(5);
  for (const Map& map : maps) {
    INFO(map.program);
    const spec::System system = spec::lower(spec::parse_program(map.program));
    CHECK(elements_of(system) == map.elements);
    const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
    CHECK(same_bits(compiled::compile_system(system, on(emulator)).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
  }
}

TEST_CASE("blocks that have several squares wait before they fetch the next one", "[cuda][emulator]") {
  if (sanitized) return;  // sixteen million threads
  const spec::System system = spec::lower(spec::parse_program("input x : f32[65601, 16, 16]\ny = transpose(x) {permutation = [0, 2, 1]}\noutput y\n"));
  REQUIRE(elements_of(system) == std::vector<std::size_t>{1});
  const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
  CHECK(same_bits(compiled::compile_system(system, on(std::make_shared<cuda::emulator::Emulator>(5))).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
}

TEST_CASE("warps ask for as few sectors as their numbers fill, on both sides", "[cuda][emulator]") {
  // 32 numbers of 4, 8 and 2 bytes fill 4, 8 and 2 sectors of 32 bytes.
  using Sectors = std::map<std::string, std::set<std::size_t>>;
  CHECK(sectors_of("input x : f32[64, 96]\ny = transpose(x)\noutput y\n") == Sectors{{"x", {4}}, {"y", {4}}});
  CHECK(sectors_of("input x : f64[64, 96]\ny = transpose(x)\noutput y\n") == Sectors{{"x", {8}}, {"y", {8}}});
  CHECK(sectors_of("input x : bf16[64, 96]\ny = transpose(x)\noutput y\n") == Sectors{{"x", {2}}, {"y", {2}}});
  CHECK(sectors_of("input x : f32[4, 64, 3, 32]\ny = transpose(x) {permutation = [0, 3, 2, 1]}\noutput y\n") == Sectors{{"x", {4}}, {"y", {4}}});
  CHECK(sectors_of("input x : f32[64, 32]\ninput z : f32[32, 64]\nt = transpose(x)\ny = add(t, z)\noutput y\n") == Sectors{{"x", {4}}, {"z", {4}}, {"y", {4}}});
  // What no square mends is seen.
  CHECK(sectors_of("input x : f32[2048]\ny = slice(x) {stop = [2048], step = [16]}\noutput y\n") == Sectors{{"x", {32}}, {"y", {4}}});
}
