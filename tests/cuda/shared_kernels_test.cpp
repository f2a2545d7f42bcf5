// Kernels that differ in names alone are printed once, and each launch hands over its own operands.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/module_text.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

cuda::ModuleText module_of(const spec::System& system) { return cuda::module_text(compiled::lower_to_loops(system, {}, {}, cuda::machine)); }

std::size_t printed(const cuda::ModuleText& module) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = module.text.find("__global__", at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Kernels, those printed once for them, and whether they have the processor's bits.
void check(const char* program, std::size_t kernels, std::size_t texts) {
  INFO(program);
  const spec::System system = spec::lower(spec::parse_program(program));
  const cuda::ModuleText module = module_of(system);
  CHECK(module.kernels.size() == kernels);
  CHECK(printed(module) == texts);
  const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(5);
  CHECK(same_bits(compiled::compile_system(system, on(emulator)).run(inputs), compiled::compile_system(system, on(nullptr)).run(inputs)));
}

}  // namespace

TEST_CASE("kernels that differ in names alone are one text", "[cuda][emulator]") {
  // The second product has the first one's factors the other way round: parameters stand where the text has them.
  check("input a : f32[40, 40]\ninput b : f32[40, 40]\nu = matmul(a, b)\nv = matmul(b, a)\nw = matmul(v, u)\noutput u, v, w\n", 3, 1);
}

TEST_CASE("kernels of other shapes, types or operands have texts of their own", "[cuda][emulator]") {
  check("input a : f32[40, 40]\ninput b : f32[40, 48]\nu = matmul(a, b)\nv = matmul(a, a)\noutput u, v\n", 2, 2);
  check("input a : f64[40, 40]\ninput b : f32[40, 40]\nu = matmul(a, a)\nv = matmul(b, b)\noutput u, v\n", 2, 2);
  // Where a kernel has the same tensor twice its memory is nobody's alone.
  check("input a : f32[40, 40]\ninput b : f32[40, 40]\nu = matmul(a, b)\nv = matmul(b, b)\noutput u, v\n", 2, 2);
}
