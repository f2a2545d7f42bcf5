// How much of an H100 the kernels of the bench keep busy, by their machine code and their grids: what falls short is listed with its reason.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/grid.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/resources.hpp"
#include "cuda/split.hpp"
#include "spec/file.hpp"
#include "spec/program/program.hpp"
#include "tests/sanitized.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;

namespace {

bool is_tiled(const std::vector<compiled::loops::Step>& steps) {
  return std::ranges::any_of(steps, [](const compiled::loops::Step& step) {
    if (const auto* loop = std::get_if<compiled::loops::Loop>(&step.is)) return is_tiled(loop->steps);
    return std::holds_alternative<compiled::loops::Contract>(step.is);
  });
}

/// How a kernel's work is given to threads.
std::string form_of(const compiled::loops::Nest& nest, const cuda::Grid& grid) {
  if (is_tiled(nest.steps)) return "tile";
  return !grid.has_groups() ? "thread" : grid.group == grid.threads ? "block" : "warp";
}

/// What kernels are asked: tiles to have a block for each multiprocessor; where memory bounds and there is work for all of a chip's threads,
/// half of them to be active.
class Asked {
 public:
  explicit Asked(const cuda::Gpu& gpu) : gpu_(gpu) {}

  void kernel(const std::string& form, const cuda::Grid& grid, const cuda::KernelUse& use, const std::string& whose) {
    if (form == "tile") {
      ++tiles;
      if (use.launch.blocks < gpu_.multiprocessors) short_of["tile: " + std::to_string(use.launch.blocks) + " blocks"].insert(whose);
      return;
    }
    const bool memory_bounds = use.bytes / gpu_.bytes_per_second >= use.operations / gpu_.f32_per_second;
    if (!memory_bounds || static_cast<std::size_t>(grid.turns * grid.group) < gpu_.all_threads()) return;
    ++by_form[form];
    const double active = std::min(use.occupancy, use.launched);
    if (!(active >= 0.5)) short_of[form + ": " + std::to_string(static_cast<int>(100 * active)) + " of 100 threads"].insert(whose);
  }

  std::map<std::string, std::set<std::string>> short_of;  ///< whose kernels fall short, by what they have
  std::map<std::string, std::size_t> by_form;             ///< kernels that memory bounds and that fill a chip
  std::size_t tiles = 0;

 private:
  const cuda::Gpu& gpu_;
};

/// Of each form the exceptions: `tile: 64 blocks | why`.
std::map<std::string, std::string> known_exceptions() {
  std::map<std::string, std::string> all;
  std::istringstream lines(read_file(ETALON_SOURCE_DIR "/tests/cuda/occupancy.exceptions"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find(" | ");
    if (line.empty() || line.front() == '#') continue;
    REQUIRE(bar != std::string::npos);
    all.emplace(line.substr(0, bar), line.substr(bar + 3));
  }
  return all;
}

/// Work that memory bounds and that fills a chip, as the bench, which processors run too, has little of.
constexpr std::array large{
    std::pair{"rows", "input x : f32[16384, 4096]\ny = softmax(x)\noutput y\n"},
    std::pair{"short rows", "input x : f32[65536, 256]\ny = softmax(x)\noutput y\n"},
    std::pair{"normalisation", "input x : f32[16384, 4096]\ninput s : f32[4096]\ninput b : f32[4096]\ninput d : f32[16384, 4096]\ny = layer_norm(x, s, b)\n"
                               "g, h, i = vjp(y; x, s, b; d)\noutput y, g, h, i\n"},
    std::pair{"columns", "input x : f32[16384, 4096]\ny = sum(x) {axes = [0], keepdims = false}\noutput y\n"},
    std::pair{"long sum", "input x : f32[16777216]\ny = sum(x)\noutput y\n"},
    std::pair{"map", "input x : f32[4096, 4096]\ninput z : f32[4096, 4096]\na = gelu(x)\nb = mul(a, z)\noutput b\n"},
};

std::vector<std::pair<std::string, spec::Program>> programs() {
  std::vector<std::pair<std::string, spec::Program>> all;
  for (const bench::Workload& w : bench::all_workloads()) all.emplace_back(w.name, bench::program_of(w, DType::f32));
  for (const auto& [name, text] : large) all.emplace_back(name, spec::parse_program(text));
  return all;
}

}  // namespace

TEST_CASE("kernels of the bench keep an H100 busy, but for those that are listed", "[cuda][evidence]") {
  if (!cuda::has_nvrtc() || test::sanitized) return;
  const cuda::Gpu& gpu = cuda::gpu_of("sm_90");
  std::set<std::string> seen;
  Asked asked(gpu);
  for (const auto& [named, program] : programs()) {
    const std::string& name = named;  // for clang 14, which captures no structured binding
    if (!seen.insert(to_text(program)).second) continue;
    const compiled::Task task = compiled::task_of(program);
    const compiled::Compilation lowered = compiled::source::lower_for_text(task, {}, cuda::machine);
    const compiled::source::ProgramText text(task, lowered, "program");
    const std::vector<cuda::KernelUse> uses = cuda::uses_of(text, cuda::compile_to_machine_code(cuda::cuda_file(text), "sm_90").cubin, gpu);
    const cuda::Splits splits = cuda::splits_of(lowered.system, lowered.script, lowered.nests);
    std::size_t use = 0;
    for (std::size_t k = 0; k < lowered.nests.size(); ++k) {
      const auto check = [&](const std::string& form, const cuda::Grid& grid) {
        asked.kernel(form, grid, uses.at(use++), name);
      };
      if (const auto split = splits.of.find(k); split != splits.of.end()) check("part", split->second.split.grid);
      check(form_of(lowered.nests[k], cuda::grid_of(lowered.system, lowered.nests[k])), cuda::grid_of(lowered.system, lowered.nests[k]));
    }
    CHECK(use == uses.size());
  }
  const std::map<std::string, std::string> listed = known_exceptions();
  for (const auto& [what, whose] : asked.short_of) {
    for (const std::string& name : whose) UNSCOPED_INFO(name);
    CHECK(listed.contains(what));
  }
  for (const auto& [what, why] : listed) {
    INFO(what << " is listed, and nobody has it");
    CHECK(asked.short_of.contains(what));
  }
  for (const auto& [form, count] : asked.by_form) UNSCOPED_INFO(form << " " << count);
  CHECK(asked.by_form.size() >= 3);
  CHECK(asked.tiles > 40);
}
