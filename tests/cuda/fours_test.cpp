// Maps over elements that lie side by side: threads move four neighbours with one instruction, and no bit changes.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/cubin.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/fours.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

struct Map {
  const char* program;
  std::size_t reads = 0;  ///< by fours
  std::size_t stores = 0;
  std::size_t loads_of_16 = 0;  ///< instructions: of 32-bit numbers one for each read, of 64-bit ones two
  std::size_t stores_of_16 = 0;
};

/// More than 132 · 1024 threads with four elements each; extents of 541, 711 and 1033 are no whole number of fours.
const std::vector<Map> in_fours{
    {"input x : f32[600, 1000]\ny = neg(x)\noutput y\n", 1, 1, 1, 1},
    {"input x : f32[600, 1000]\ninput z : f32[1000]\ninput s : f32[600, 1]\ny = add(x, z)\nw = mul(y, s)\noutput w\n", 2, 1, 2, 1},
    {"input x : f32[1033, 541]\ninput z : f32[1033, 541]\ny = mul(x, z)\noutput y\n", 2, 1, 2, 1},
    {"input x : f32[558851]\ny = exp(x)\noutput y\n", 1, 1, 1, 1},
    {"input x : f32[1033, 541]\ny = neg(x)\nz = mul(x, x)\noutput y, z\n", 1, 2, 1, 2},
    {"input x : f64[770, 711]\ny = neg(x)\noutput y\n", 1, 1, 2, 2},
    {"input x : bf16[600, 1000]\ninput z : f32[600, 1000]\nc = cast(x) {dtype = f32}\ny = add(c, z)\noutput y\n", 2, 1, 1, 1},
    {"input x : f32[3, 600, 520]\ny = slice(x) {start = [1, 0, 0], stop = [3, 600, 520], step = [1, 1, 1]}\noutput y\n", 1, 1, 1, 1},
    {"input c : f32[4]\ninput x : f32[150000, 4]\ny = mul(x, c)\noutput y\n", 2, 1, 2, 1},
};

/// What a compiler makes of constants is its own affair.
const std::vector<Map> with_constants{{"constant c : f32[4] = [1, 2, 3, 4]\ninput x : f32[150000, 4]\ny = mul(x, c)\noutput y\n", 2, 1}};

/// Few elements, rows whose elements are neighbours but begin anywhere, every other element, elements that may not be there, and what data choose.
const std::vector<Map> one_by_one{
    {"input x : f32[300, 1000]\ny = neg(x)\noutput y\n"},
    {"input x : f32[1033, 541]\ninput z : f32[541]\ny = add(x, z)\noutput y\n"},
    {"input x : f32[600, 1002]\ny = slice(x) {start = [0, 1], stop = [600, 1001], step = [1, 1]}\noutput y\n"},
    {"input x : f32[600, 2000]\ny = slice(x) {start = [0, 0], stop = [600, 2000], step = [1, 2]}\noutput y\n"},
    {"input x : f32[600, 1000]\ny = flip(x)\noutput y\n"},
    {"input x : f32[600, 1000]\ny = pad(x) {low = [4, 4], high = [4, 4]}\noutput y\n"},
    {"input x : f32[600, 1000]\ninput i : i64[1000]\ny = gather(x, i) {axis = 1}\noutput y\n"},
};

}  // namespace

TEST_CASE("four neighbours come and go together where alignment is known, and keep their bits", "[cuda][emulator]") {
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(5);
  for (const auto* maps : {&in_fours, &with_constants, &one_by_one}) {
    for (const Map& map : *maps) {
      INFO(map.program);
      const spec::System system = spec::lower(spec::parse_program(map.program));
      const compiled::Compilation made = compiled::lower_to_loops(system, {}, {}, cuda::machine);
      REQUIRE(made.nests.size() == 1);
      const auto fours = cuda::fours_of(made.system, made.nests.front());
      CHECK((fours ? fours->reads.size() : 0) == map.reads);
      CHECK((fours ? fours->stores.size() : 0) == map.stores);
      const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
      CHECK(same_bits(compiled::compile_system(system, on(emulator)).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
    }
  }
}

TEST_CASE("machine code moves sixteen bytes with one instruction where threads have four neighbours", "[cuda][evidence]") {
  if (!cuda::has_nvrtc()) return;
  for (const auto* maps : {&in_fours, &one_by_one}) {
    for (const Map& map : *maps) {
      const compiled::Task task = compiled::task_of(spec::parse_program(map.program));
      const compiled::Compilation made = compiled::source::lower_for_text(task, {}, cuda::machine);
      const std::string text = cuda::cuda_file(compiled::source::ProgramText(task, made, "program"));
      for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
        INFO(map.program << architecture << "\n" << text);
        const auto kernels = cuda::kernels_in(cuda::compile_to_machine_code(text, architecture).cubin);
        REQUIRE(kernels.size() == 1);
        const auto& named = kernels.front().instructions.named;
        const auto count = [&](const char* name) { return named.contains(name) ? named.at(name) : 0; };
        CHECK(count("LDG.128") == map.loads_of_16);
        CHECK(count("STG.128") == map.stores_of_16);
      }
    }
  }
}
