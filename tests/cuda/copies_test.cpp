// Factors that come to shared memory beside the arithmetic: which ones, how wide, by whose decision, with the processor's bits, and with as
// many instructions in machine code as the schedule says.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/contract.hpp"
#include "cuda/cubin.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/grid.hpp"
#include "cuda/module_text.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/ptx.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;
using compiled::BlockTile;
using compiled::DecisionLine;
using cuda::emulator::Emulator;

namespace {

spec::System system_of(const std::string& program) { return spec::lower(spec::parse_program(program)); }

compiled::CompileOptions deciding(const std::string& lines, std::shared_ptr<compiled::Device> device = nullptr) {
  compiled::CompileOptions o = on(std::move(device));
  o.decisions = compiled::decisions_in(lines, "s");
  return o;
}

compiled::Compilation lowered(const std::string& program, const compiled::CompileOptions& options = {}) {
  return compiled::lower_to_loops(system_of(program), {}, options, cuda::machine);
}

void collect(const std::vector<compiled::loops::Step>& steps, std::vector<compiled::Schedule>& into) {
  for (const compiled::loops::Step& s : steps) {
    if (const auto* loop = std::get_if<compiled::loops::Loop>(&s.is)) collect(loop->steps, into);
    if (const auto* c = std::get_if<compiled::loops::Contract>(&s.is)) into.push_back(c->schedule);
  }
}

std::vector<compiled::Schedule> tiles_of(const compiled::Compilation& made) {
  std::vector<compiled::Schedule> all;
  for (const compiled::loops::Nest& nest : made.nests) collect(nest.steps, all);
  return all;
}

struct Widths {
  std::int64_t stages, left, right;
  [[nodiscard]] friend bool operator==(const Widths&, const Widths&) = default;
};

const std::string padded = "input x : f32[4, 16, 40, 40]\ninput k : f32[16, 16, 3, 3]\ny = conv2d(x, k, _) {padding = [1, 1]}\noutput y\n";

/// Of the only tile of a program.
Widths widths_of(const std::string& program, const compiled::CompileOptions& options = {}) {
  const std::vector<compiled::Schedule> all = tiles_of(lowered(program, options));
  REQUIRE(all.size() == 1);
  return {all[0].shared->stages, all[0].shared->left_copied, all[0].shared->right_copied};
}

std::string matrices(const std::string& type, const std::string& a, const std::string& b, const std::string& y) {
  return "input a : " + type + a + "\ninput b : " + type + b + "\n" + y + "\noutput y\n";
}

compiled::CompileOptions with_tensor_cores(int bits = 8) {
  compiled::CompileOptions o;
  spec::Contract promises = cuda::with_tensor_cores(cuda::contract_of_device("cuda-emulated", "cpu-c"));
  promises.product_operand_precision = bits;
  o.schedule.promises = promises;
  return o;
}

std::vector<DecisionLine> about_copies(const compiled::Compilation& made) {
  std::vector<DecisionLine> found;
  std::ranges::copy_if(made.deciding.taken(), std::back_inserter(found), [](const DecisionLine& l) { return l.kind == "copy"; });
  return found;
}

/// Copies that a thread asks for of a piece, as loops without branches have them.
std::size_t copies_of(const compiled::Schedule& s) {
  const std::int64_t threads = s.tile_rows / s.shared->rows * (s.tile_columns / s.shared->columns);
  const std::int64_t size = s.fragments == nullptr ? 4 : static_cast<std::int64_t>(size_of(s.fragments->held));
  std::int64_t all = 0;
  for (const auto& [tile, bytes] : {std::pair{s.tile_rows, s.shared->left_copied}, std::pair{s.tile_columns, s.shared->right_copied}}) {
    if (bytes > 0) all += compiled::parts(s.shared->steps * tile * size / bytes, threads);
  }
  return static_cast<std::size_t>(all);
}

}  // namespace

TEST_CASE("sixteen bytes are copied where they lie side by side in both memories, else a number", "[cuda][copies]") {
  CHECK(widths_of(matrices("f32", "[64, 96]", "[96, 64]", "y = matmul(a, b)")) == Widths{2, 4, 16});
  CHECK(widths_of(matrices("f64", "[64, 96]", "[96, 64]", "y = matmul(a, b)")) == Widths{2, 8, 16});
  // Rows of 30 numbers begin at no multiple of 16 bytes, nor do those of 62.
  CHECK(widths_of(matrices("f32", "[40, 150]", "[150, 30]", "y = matmul(a, b)")) == Widths{2, 4, 4});
  CHECK(widths_of(matrices("f32", "[64, 96]", "[96, 62]", "y = matmul(a, b)")) == Widths{2, 4, 4});
  // Nor do 64 of 66, or those from the second one on.
  const auto of_slice = [](const char* b, int first) {
    const std::string from = std::to_string(first), to = std::to_string(first + 64);
    return widths_of(matrices("f32", "[64, 96]", b, "s = slice(b) {start = [0, " + from + "], stop = [96, " + to + "], step = [1, 1]}\ny = matmul(a, s)"));
  };
  CHECK(of_slice("[96, 68]", 4) == Widths{2, 4, 16});
  CHECK(of_slice("[96, 66]", 0) == Widths{2, 4, 4});
  CHECK(of_slice("[96, 68]", 1) == Widths{2, 4, 4});
  // Turned, rows lie as shared memory has them, and columns do not.
  CHECK(widths_of(matrices("f32", "[96, 64]", "[96, 64]", "t = transpose(a)\ny = matmul(t, b)")) == Widths{2, 16, 16});
  CHECK(widths_of(matrices("f32", "[64, 96]", "[64, 96]", "y = linear(a, b, _)")) == Widths{2, 4, 4});
}

TEST_CASE("what is computed or converted on the way goes through registers, and the other factor is copied", "[cuda][copies]") {
  // Beyond the edge of an image there are zeros.
  CHECK(widths_of(padded) == Widths{2, 0, 4});
  CHECK(widths_of(matrices("bf16", "[64, 96]", "[96, 64]", "y = matmul(a, b)")) == Widths{1, 0, 0});
  // Fragments of numbers that memory has as tensor cores take them: steps lie side by side.
  CHECK(widths_of(matrices("bf16", "[64, 96]", "[64, 96]", "y = linear(a, b, _)"), with_tensor_cores()) == Widths{2, 16, 16});
  CHECK(widths_of(matrices("bf16", "[64, 96]", "[96, 64]", "y = matmul(a, b)"), with_tensor_cores()) == Widths{2, 16, 0});
  CHECK(widths_of(matrices("bf16", "[64, 90]", "[64, 90]", "y = linear(a, b, _)"), with_tensor_cores()) == Widths{1, 0, 0});
  CHECK(widths_of(matrices("f32", "[64, 96]", "[64, 96]", "y = linear(a, b, _)"), with_tensor_cores()) == Widths{1, 0, 0});
  CHECK(widths_of(matrices("f32", "[64, 96]", "[64, 96]", "y = linear(a, b, _)"), with_tensor_cores(11)) == Widths{1, 0, 0});
}

TEST_CASE("terms that may not count, strips and single pieces are left as they were", "[cuda][copies]") {
  for (const char* program : {"input x : f32[4, 16, 40, 40]\ninput k : f32[16, 16, 3, 3]\ninput d : f32[4, 16, 38, 38]\ny = conv2d(x, k, _)\ng = vjp(y; x; d)\noutput g\n",
                              "input q : f32[4, 16, 512, 64]\ninput k : f32[4, 16, 512, 64]\ninput v : f32[4, 16, 512, 64]\n"
                              "y = scaled_dot_product_attention(q, k, v, _, _)\noutput y\n",
                              "input a : f32[64, 16]\ninput b : f32[16, 64]\ny = matmul(a, b)\noutput y\n"}) {
    INFO(program);
    const compiled::Compilation made = lowered(program);
    const std::vector<compiled::Schedule> all = tiles_of(made);
    CHECK_FALSE(all.empty());
    CHECK(std::ranges::all_of(all, [](const compiled::Schedule& s) { return s.shared->stages == 1 && s.shared->left_copied == 0 && s.shared->right_copied == 0; }));
    CHECK(about_copies(made).empty());
  }
}

TEST_CASE("copies are a decision of the schedule", "[cuda][copies]") {
  const std::string program = matrices("f32", "[64, 96]", "[96, 64]", "y = matmul(a, b)");
  const auto text_of = [&](const compiled::CompileOptions& o) { return cuda::module_text(lowered(program, o)).text; };
  const std::vector<DecisionLine> by_cost = about_copies(lowered(program));
  REQUIRE(by_cost.size() == 1);
  CHECK(to_text(by_cost[0]) == "copy y stages=2");
  CHECK(text_of(deciding(to_text(by_cost[0]))) == text_of({}));
  CHECK(widths_of(program, deciding("copy y off")) == Widths{1, 0, 0});
  CHECK(widths_of(program, deciding("copy y stages=4")) == Widths{4, 4, 16});
  CHECK(text_of(deciding("copy y off")).find("copy_") == std::string::npos);
  CHECK(text_of({}).find("copy_past_cache_16(") != std::string::npos);
  compiled::CompileOptions without;
  without.off.insert("copies");
  CHECK(text_of(without) == text_of(deciding("copy y off")));
  CHECK_THROWS_WITH(lowered(program, deciding("copy y stages=5")), Contains("s:1: copy y: stages is from 2 to 4, found '5'"));
  CHECK_THROWS_WITH(lowered(program, deciding("copy z off")), Contains("s:1: copy z: ") && Contains("did you mean 'y'?"));
  // As many pieces lie in shared memory.
  const auto shared_bytes = [&](const std::string& lines) {
    const compiled::Compilation made = lowered(program, deciding(lines));
    return cuda::grid_of(made.system, made.nests[0]).shared_bytes;
  };
  const std::int64_t one = shared_bytes("copy y off");
  CHECK(one > 0);
  for (const std::int64_t stages : {2, 3, 4}) CHECK(shared_bytes("copy y stages=" + std::to_string(stages)) == stages * one);
}

TEST_CASE("products whose factors are copied have the processor's bits", "[cuda][emulator][copies]") {
  const std::vector<std::string> programs{
      matrices("f32", "[40, 150]", "[150, 30]", "y = matmul(a, b)"),                            // rows, columns and steps are left over, three blocks
      matrices("f32", "[70, 200]", "[200, 44]", "y = matmul(a, b)"),                            // the same, sixteen bytes at once
      matrices("f64", "[40, 150]", "[150, 30]", "y = matmul(a, b)"),
      matrices("f32", "[150, 36]", "[150, 32]", "t = transpose(a)\ny = matmul(t, b)"),
      padded,                                                                                   // one through registers
      matrices("f32", "[3, 20, 40, 50]", "[3, 20, 50, 24]", "y = matmul(a, b)"),                // many tiles
      matrices("f32", "[16, 40, 1300]", "[16, 1300, 32]", "y = matmul(a, b)"),                  // depth in parts
      matrices("f32", "[65, 17]", "[17, 67]", "y = matmul(a, b)"),                              // a second piece of one step
  };
  const auto emulator = std::make_shared<Emulator>(7);
  std::vector<std::pair<std::string, compiled::Executable>> made;
  for (const std::string& program : programs) {
    for (const char* stages : {"2", "3", "4"}) {
      const compiled::CompileOptions o = deciding("copy y stages=" + std::string(stages), emulator);
      made.emplace_back(program, compiled::compile_system(system_of(program), o));
    }
  }
  std::size_t compared = 0;
  for (const auto& [program, on_device] : made) {
    INFO(program);
    const spec::System system = system_of(program);
    const std::vector<HostTensor> inputs = drawn_inputs(system, 5);
    CHECK(same_bits(on_device.run(inputs), compiled::compile_system(system).run(inputs)));
    ++compared;
  }
  CHECK(compared == 24);
}

TEST_CASE("fragments that are copied have the bits of those that go through registers", "[cuda][emulator][copies]") {
  const auto emulator = std::make_shared<Emulator>(7);
  std::size_t compared = 0;
  for (const auto& [program, stages] : {std::pair{matrices("bf16", "[40, 152]", "[24, 152]", "y = linear(a, b, _)"), "2"}, std::pair{matrices("bf16", "[70, 200]", "[50, 200]", "y = linear(a, b, _)"), "3"},
                                        std::pair{matrices("bf16", "[40, 152]", "[152, 24]", "y = matmul(a, b)"), "2"}}) {
    INFO(program);
    const spec::System system = system_of(program);
    const std::vector<HostTensor> inputs = drawn_inputs(system, 5);
    const auto run = [&](const std::string& how) {
      compiled::CompileOptions o = deciding("copy y " + how, emulator);
      o.schedule.promises = with_tensor_cores().schedule.promises;
      return compiled::compile_system(system, o).run(inputs);
    };
    CHECK(same_bits(run("stages=" + std::string(stages)), run("off")));
    ++compared;
  }
  CHECK(compared == 3);
}

TEST_CASE("a block that does one tile after the other copies over no piece that is still read", "[cuda][emulator][copies]") {
  // Of three pieces the last is where the first one of the next tile comes.
  const std::string program = matrices("f32", "[70, 48]", "[48, 44]", "y = matmul(a, b)"), barrier = "__syncthreads();\n      {";
  const spec::System system = system_of(program);
  const cuda::ModuleText module = cuda::module_text(lowered(program));
  REQUIRE(module.kernels.size() == 1);
  const auto& [kernel, grid] = module.kernels[0];
  REQUIRE(grid.turns > 1);
  std::string broken = module.text;
  const std::size_t at = broken.find(barrier);
  REQUIRE(at != std::string::npos);
  broken.replace(at, barrier.size(), "{");
  const std::vector<std::string> texts{module.text, broken};
  const auto objects = cuda::emulator::compile(texts);
  std::vector<HostTensor> inputs = drawn_inputs(system, 5);
  const HostTensor expected = compiled::compile_system(system).run(inputs)[0];
  // One block has all turns.
  cuda::emulator::Extent extent;
  extent.threads.x = static_cast<std::uint32_t>(grid.threads);
  extent.shared_bytes = static_cast<std::size_t>(grid.shared_bytes);
  std::array<std::size_t, 2> alike{};
  constexpr std::uint64_t courses = 10;
  for (std::uint64_t seed = 1; seed <= courses; ++seed) {
    for (std::size_t o = 0; o < 2; ++o) {
      HostTensor y(DType::f32, expected.dims);
      std::array<void*, 3> operands{inputs[0].bytes.data(), inputs[1].bytes.data(), y.bytes.data()};
      std::array<void*, 3> values{&operands[0], &operands[1], &operands[2]};
      cuda::emulator::Course course(seed);
      objects[o]->launch(kernel, extent, values.data(), course);
      alike[o] += same_bits({y}, {expected}) ? 1 : 0;
    }
  }
  CHECK(alike[0] == courses);
  CHECK(alike[1] < courses);
}

TEST_CASE("machine code has the copies that the schedule says, and no load or store in their place", "[cuda][copies]") {
  if (!cuda::has_nvrtc()) return;
  struct Asked {
    std::string program;
    bool on_tensor_cores;
  };
  const std::vector<Asked> all{{matrices("f32", "[1024, 1024]", "[1024, 1024]", "y = matmul(a, b)"), false},
                               {matrices("f32", "[1024, 1024]", "[1024, 1024]", "t = transpose(a)\ny = matmul(t, b)"), false},
                               {matrices("f32", "[512, 512]", "[512, 512]", "y = linear(a, b, _)"), false},
                               {matrices("bf16", "[1024, 1024]", "[1024, 1024]", "y = linear(a, b, _)"), true}};
  for (const char* architecture : {"sm_80", "sm_90", "sm_120"}) {
    for (const auto& [program, on_tensor_cores] : all) {
      for (const std::int64_t stages : {2, 3}) {
        compiled::CompileOptions o = deciding("copy y stages=" + std::to_string(stages));
        if (on_tensor_cores) o.schedule.promises = with_tensor_cores().schedule.promises;
        const compiled::Compilation made = lowered(program, o);
        const std::vector<compiled::Schedule> tiles = tiles_of(made);
        REQUIRE(tiles.size() == 1);
        const cuda::MachineCode code = cuda::compile_to_machine_code(cuda::module_text(made).text, architecture);
        const std::vector<cuda::CompiledKernel> kernels = cuda::kernels_in(code.cubin);
        REQUIRE(kernels.size() == 1);
        INFO(architecture << ", " << stages << " stages: " << program);
        // Each piece that comes before the loop, and the one that comes in it.
        CHECK(kernels[0].instructions.of("LDGSTS") == static_cast<std::size_t>(stages) * copies_of(tiles[0]));
        CHECK(kernels[0].instructions.of("LDG") == 0);
        CHECK(kernels[0].instructions.of("STS") == 0);
        CHECK(kernels[0].instructions.of("BAR") == 2);
        for (const cuda::PtxFinding& f : cuda::findings_in_ptx(code.ptx)) {
          INFO(f.instruction);
          CHECK(f.kind != cuda::PtxFinding::Kind::unordered);
        }
      }
    }
  }
}
