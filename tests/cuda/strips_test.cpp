// Values much larger than what they are made of, on a grid: a block computes a strip of their rows, uses it and forgets it, with the bits that
// they have where they are stored, and those of the processor.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/resources.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

struct Attention {
  std::int64_t batch, heads, queries, keys, width;
  bool causal = true;
  bool cotangents = true;
  const char* dtype = "f32";
  bool in_arena = false;  ///< what a block has of its own, at least in one kernel

  [[nodiscard]] std::string program() const {
    std::string text = fmt::format("input q : {5}[{0}, {1}, {2}, {4}]\ninput k : {5}[{0}, {1}, {3}, {4}]\ninput v : {5}[{0}, {1}, {3}, {4}]\n", batch, heads, queries, keys, width, dtype);
    if (cotangents) text += fmt::format("input d : {}[{}, {}, {}, {}]\n", dtype, batch, heads, queries, width);
    text += fmt::format("y = scaled_dot_product_attention(q, k, v, _, _) {{causal = {}}}\n", causal);
    if (cotangents) text += "gq, gk, gv = vjp(y; q, k, v; d)\n";
    return text + (cotangents ? "output y, gq, gk, gv\n" : "output y\n");
  }
  [[nodiscard]] spec::System system() const { return spec::lower(spec::parse_program(program())); }
};

/// Strips of few and of many rows, with rows, columns and terms left over, in one and in two types, and of rows that shared memory does not hold.
const std::vector<Attention> shapes{{1, 1, 37, 53, 8},     {2, 3, 29, 29, 11},  {1, 2, 14, 40, 9, false},     {3, 1, 15, 16, 16},
                                    {1, 1, 43, 9, 8, false}, {1, 1, 40, 300, 40}, {1, 2, 12, 300, 16, true, false}, {1, 1, 20, 1400, 8, true, true, "f32", true}};

/// Wide values in strips whatever their size.
compiled::CompileOptions always(std::shared_ptr<compiled::Device> device) {
  compiled::CompileOptions o = on(std::move(device));
  o.schedule.always = true;
  return o;
}

compiled::CompileOptions stored(compiled::CompileOptions o) {
  o.off.insert("strips");
  return o;
}

std::size_t kernels_of_strips(const compiled::Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.kernels, [](const auto& k) { return k.kind == compiled::KernelKind::strips; }));
}

}  // namespace

TEST_CASE("strips of a block's rows keep every bit", "[cuda][emulator][strips]") {
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(7);
  for (const Attention& a : shapes) {
    INFO(a.program());
    const spec::System system = a.system();
    const compiled::CompileOptions with = always(emulator);
    const compiled::Compilation made = compiled::lower_to_loops(system, {}, with, cuda::machine);
    CHECK(kernels_of_strips(made.plan) == (a.cotangents ? 2 : 1));
    CHECK(a.in_arena == std::ranges::any_of(made.nests, [&](const auto& nest) { return cuda::grid_of(made.system, nest).arena_bytes > 0; }));
    const std::vector<HostTensor> inputs = drawn_inputs(system, 3);
    const std::vector<HostTensor> expected = compiled::compile_system(system, always(nullptr)).run(inputs);
    const auto strips = compiled::compile_system(system, with).run(inputs);
    for (std::size_t o = 0; o < strips.size(); ++o) {
      INFO("output " << o);
      CHECK(same_bits({strips[o]}, {expected[o]}));
    }
    CHECK(same_bits(compiled::compile_system(system, stored(with)).run(inputs), expected));
  }
}

TEST_CASE("attention of a long sequence stores nothing of queries times keys on a grid, and fills a chip", "[cuda][strips]") {
  const Attention forward{4, 16, 1024, 1024, 64, true, false}, both{4, 16, 1024, 1024, 64}, longer{1, 2, 8192, 8192, 64};
  for (const Attention& a : {forward, both, longer}) {
    INFO(a.program());
    const compiled::Task task = compiled::task_of(spec::parse_program(a.program()));
    const compiled::Compilation made = compiled::source::lower_for_text(task, {}, cuda::machine);
    CHECK(kernels_of_strips(made.plan) == (a.cotangents ? 2 : 1));
    const auto matrix = static_cast<std::size_t>(a.queries * a.keys);
    CHECK(made.script.arena_bytes < matrix);  // a byte for each score of one head would be more
    for (std::size_t k = 0; k < made.nests.size(); ++k) {
      if (made.plan.kernels[k].kind != compiled::KernelKind::strips) continue;
      const cuda::Grid grid = cuda::grid_of(made.system, made.nests[k]);
      CHECK(grid.blocks >= cuda::machine.multiprocessors);
      CHECK((grid.arena_bytes > 0) == (a.keys > 4096));
    }
  }
}

TEST_CASE("what blocks have of their own in shared memory leaves room for several of them", "[cuda][strips]") {
  if (!cuda::has_nvrtc()) return;
  const Attention both{4, 16, 1024, 1024, 64};
  const compiled::Task task = compiled::task_of(spec::parse_program(both.program()));
  const compiled::Compilation made = compiled::source::lower_for_text(task, {}, cuda::machine);
  const compiled::source::ProgramText text(task, made, "program");
  const cuda::Gpu& gpu = cuda::gpu_of("sm_90");
  for (const cuda::KernelUse& use : cuda::uses_of(text, cuda::compile_to_machine_code(cuda::cuda_file(text), "sm_90").cubin, gpu)) {
    INFO(use.code.name << ": " << use.code.registers << " registers, " << use.launch.shared_bytes << " bytes shared, " << use.code.local_bytes << " bytes local");
    if (use.launch.shared_bytes > 32768) CHECK(use.occupancy * static_cast<double>(gpu.threads) >= 3 * static_cast<double>(use.launch.threads));
  }
}
