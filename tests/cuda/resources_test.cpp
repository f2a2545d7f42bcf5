// What a program's kernels take, for programs whose bytes and operations are known by hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/resources.hpp"
#include "spec/error.hpp"

using namespace etalon;
using Catch::Matchers::Contains;

namespace {

std::vector<cuda::KernelUse> uses_of(const std::string& program, const std::string& code_of, const cuda::Gpu& gpu) {
  const auto written = [&](const std::string& text, const auto& look) {
    const compiled::Task task = compiled::task_of(spec::parse_program(text));
    const compiled::Compilation lowered = compiled::source::lower_for_text(task, {}, cuda::machine);
    return look(compiled::source::ProgramText(task, lowered, "program"));
  };
  const std::string cubin =
      written(code_of, [&](const auto& text) { return cuda::compile_to_machine_code(cuda::cuda_file(text), "sm_" + std::to_string(gpu.capability)).cubin; });
  return written(program, [&](const auto& text) { return cuda::uses_of(text, cubin, gpu); });
}

constexpr const char* doubled = "input x : f32[1024, 1024]\ny = add(x, x)\noutput y\n";
constexpr const char* product = "input a : f32[256, 384]\ninput b : f32[384, 128]\ny = matmul(a, b)\noutput y\n";

}  // namespace

TEST_CASE("bytes, operations and the least time of kernels are those of the equation", "[cuda][resources]") {
  if (!cuda::has_nvrtc()) return;
  for (const cuda::Gpu& gpu : cuda::gpus) {
    const std::vector<cuda::KernelUse> map = uses_of(doubled, doubled, gpu), products = uses_of(product, product, gpu);
    REQUIRE(map.size() == 1);
    CHECK(map[0].bytes == 2 * 4 * 1024 * 1024);
    CHECK(map[0].seconds == map[0].bytes / gpu.bytes_per_second);
    CHECK(map[0].code.local_bytes == 0);
    CHECK(map[0].launch.registers == map[0].code.registers);
    CHECK(map[0].launched == static_cast<double>(map[0].launch.blocks * map[0].launch.threads) / static_cast<double>(gpu.multiprocessors * gpu.threads));
    REQUIRE(products.size() == 1);
    CHECK(products[0].bytes == 4 * (256 * 384 + 384 * 128 + 256 * 128));
    // A multiplication and an addition per term.
    CHECK(products[0].operations == 2.0 * 256 * 384 * 128);
    CHECK(map[0].operations == 1024 * 1024);
    CHECK(products[0].seconds == std::max(products[0].operations / gpu.f32_per_second, products[0].bytes / gpu.bytes_per_second));
    for (const cuda::KernelUse& u : {map[0], products[0]}) CHECK((u.occupancy > 0 && u.occupancy <= 1));
  }
}

TEST_CASE("a sum in parts is read once, and by threads enough", "[cuda][resources]") {
  if (!cuda::has_nvrtc()) return;
  const char* const sum = "input x : f32[4194304]\ny = sum(x)\noutput y\n";
  const std::vector<cuda::KernelUse> uses = uses_of(sum, sum, cuda::gpu_of("sm_90"));
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].bytes == 4.0 * 4194304);
  CHECK(uses[0].operations == 4194304);
  CHECK(uses[0].occupancy >= 0.5);
  CHECK(uses[0].launched > 0.2);
  CHECK(uses[1].bytes == 4);
  CHECK(uses[1].operations == 0);
}

TEST_CASE("a program's use is the mean of its kernels' over their times", "[cuda][resources]") {
  std::vector<cuda::KernelUse> uses(2);
  uses[0].bytes = 10, uses[0].operations = 1, uses[0].seconds = 3, uses[0].occupancy = 1, uses[0].launched = 5;
  uses[1].bytes = 20, uses[1].operations = 2, uses[1].seconds = 1, uses[1].occupancy = 0.5, uses[1].launched = 0.25;
  const cuda::ProgramUse all = cuda::together(uses);
  CHECK((all.bytes == 30 && all.operations == 3 && all.seconds == 4));
  CHECK(all.occupancy == 0.875);
  CHECK(all.launched == 0.8125);
  CHECK(cuda::together({}).occupancy == 0);
  const std::string text = cuda::to_text(uses, cuda::gpu_of("sm_90"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
}

TEST_CASE("machine code of another program is refused", "[cuda][resources]") {
  if (!cuda::has_nvrtc()) return;
  const cuda::Gpu& gpu = cuda::gpu_of("sm_90");
  CHECK_THROWS_AS(uses_of("input x : f32[4]\nz = neg(x)\noutput z\n", product, gpu), SpecViolation);
}
