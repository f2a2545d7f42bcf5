// What nothing puts in order is found though the values are right, and kernels of the bench have nothing of it.
#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/runtime/executable.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/emulator/object.hpp"
#include "cuda/grid.hpp"
#include "cuda/module_text.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/cuda/on_device.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/sanitized.hpp"
#include "tools/bench/bits.hpp"

using namespace etalon;
using namespace etalon::test;
using namespace cuda::emulator;
using Catch::Matchers::Contains;

namespace {

/// What is said of a kernel over 64 elements, run by two blocks of 32 threads that share as much; nothing where there is nothing to say.
std::string said_of(const std::string& body) {
  const std::string text = "extern \"C\" __global__ void k(const float *x, float *y) {\n  extern __shared__ float shared[];\n  const int t = threadIdx.x, n = blockIdx.x * blockDim.x + t;\n" + body + "\n}\n";
  const auto object = compile({&text, 1}, telling_compiler()).front();
  std::vector<float> x(64, 3), y(64);
  const float *from = x.data();
  float* to = y.data();
  std::array<void*, 2> values{&from, &to};
  Course course(7);
  course.races = std::make_unique<Races>();
  course.races->begin({{false}}, {"k"});
  course.races->watch(reinterpret_cast<const std::byte*>(x.data()), 256);
  course.races->watch(reinterpret_cast<const std::byte*>(y.data()), 256);
  course.races->begin_command(0);
  Extent extent;
  extent.blocks.x = 2;
  extent.threads.x = 32;
  extent.shared_bytes = 128;
  try {
    object->launch("k", extent, values.data(), course);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

struct Printed {
  const char* program;
  std::size_t needed;  ///< barriers without which a word is read too early or written too late
  const char* decisions = "";
};

/// The text without its n-th barrier; nothing where it has no more.
std::string without_barrier(std::string text, std::size_t n) {
  const std::string barrier = "__syncthreads();";
  std::size_t at = text.find(barrier);
  for (; n > 0 && at != std::string::npos; --n) at = text.find(barrier, at + 1);
  return at == std::string::npos ? std::string() : text.erase(at, barrier.size());
}

}  // namespace

TEST_CASE("two threads that touch a word and do not wait for each other are named, whatever its value", "[cuda][emulator]") {
  // All write the same.
  const std::string same = said_of("  shared[0] = x[0];\n  __syncthreads();\n  y[n] = shared[0];");
  CHECK_THAT(same, Contains("k: thread ") && Contains(" writes at line 4 ") && Contains("in shared memory"));
  const std::string global = said_of("  y[0] = 1;");
  CHECK_THAT(global, Contains(" writes at line 4 ") && Contains("in global memory"));
  // One writes, all read: the line of each.
  const std::string read = said_of("  if (t == 0) shared[0] = x[0];\n  y[n] = shared[0];");
  CHECK_THAT(read, Contains("thread 0 of block") && Contains("writes at line 4") && Contains("reads at line 5"));
  // After it was read by all, one writes again.
  CHECK_THAT(said_of("  if (t == 0) shared[0] = 1;\n  __syncthreads();\n  y[n] = shared[0];\n  if (t == 5) shared[0] = 2;"),
             Contains("thread 5 of block") && Contains("reads at line 6") && Contains("writes at line 7"));
  // A shuffle makes lanes wait and orders no memory.
  CHECK_THAT(said_of("  shared[t] = x[n];\n  const float s = __shfl_xor_sync(0xffffffffu, shared[t], 1);\n  y[n] = shared[t ^ 1] + s;"), Contains("line 6"));
}

TEST_CASE("a copy touches memory from where it is asked for to where it is waited for", "[cuda][emulator][copies]") {
  const std::string copied = "  copy_by_cache_4(shared + t, x + n, 4);\n  close_copies();\n", waited = "  wait_for_copies<0>();\n", barrier = "  __syncthreads();\n";
  CHECK(said_of(copied + waited + barrier + "  y[n] = shared[31 - t];") == "");
  CHECK(said_of(copied + waited + "  y[n] = shared[t];") == "");
  CHECK_THAT(said_of(copied + waited + "  y[n] = shared[31 - t];"), Contains("writes at line 4") && Contains("in shared memory"));
  // A barrier before the wait is none behind it.
  CHECK_THAT(said_of(copied + barrier + "  y[n] = shared[31 - t];\n" + waited), Contains("writes at line 4") && Contains("reads at line 7"));
  CHECK_THAT(said_of(copied + barrier + "  y[n] = shared[31 - t];\n" + barrier + waited), Contains("writes at line 4") && Contains("reads at line 7"));
  // What is copied changes meanwhile.
  CHECK_THAT(said_of("  copy_by_cache_4(shared + t, y + n, 4);\n  close_copies();\n  y[n ^ 1] = 1;\n" + waited), Contains("reads at line 4") && Contains("in global memory"));
}

TEST_CASE("what is in order is acquitted", "[cuda][emulator]") {
  CHECK(said_of("  shared[t] = x[n];\n  __syncthreads();\n  y[n] = shared[31 - t];") == "");
  CHECK(said_of("  shared[t] = x[n];\n  __syncwarp();\n  y[n] = shared[t ^ 1];\n  __syncwarp();\n  shared[t] = 1;") == "");
  CHECK(said_of("  y[n] = x[0] + x[63 - n];\n  y[n] += y[n];") == "");
  // Neighbours write bytes of one word.
  CHECK(said_of("  ((unsigned char *)shared)[t] = 1;\n  __syncthreads();\n  y[n] = ((unsigned char *)shared)[t ^ 1];") == "");
}

// Some of a reduction's are there twice, and the one behind a turn is for grids with fewer blocks than turns.
TEST_CASE("of kernels that were printed barriers that are dropped are missed", "[cuda][emulator]") {
  const char* product = "input a : f32[64, 96]\ninput b : f32[96, 64]\ny = matmul(a, b)\noutput y\n";
  const std::array<Printed, 3> all{Printed{"input x : f32[3, 2100]\ny = softmax(x)\noutput y\n", 5}, Printed{product, 2, "copy y off"}, Printed{product, 1}};
  for (const auto& [program, needed, decisions] : all) {
    const spec::System system = spec::lower(spec::parse_program(program));
    const auto deciding = [lines = compiled::decisions_in(decisions, "s")](std::shared_ptr<compiled::Device> device) {
      compiled::CompileOptions o = on(std::move(device));
      o.decisions = lines;
      return o;
    };
    const std::string sound = cuda::module_text(compiled::lower_to_loops(system, {}, deciding(nullptr), cuda::machine)).text;
    const std::vector<HostTensor> inputs = drawn_inputs(system, 5);
    const auto emulator = std::make_shared<Emulator>(Emulator::LookingForRaces{}, 11);
    const compiled::Executable whole = compiled::compile_system(system, deciding(emulator));
    CHECK_NOTHROW(whole.run(inputs));
    std::vector<compiled::Executable> mutants;
    for (std::size_t n = 0;; ++n) {
      const std::string broken = without_barrier(sound, n);
      if (broken.empty()) break;
      emulator->replace(sound, broken);
      mutants.push_back(compiled::compile_system(system, deciding(emulator)));
    }
    std::size_t missed = 0;
    for (const compiled::Executable& mutant : mutants) {
      try {
        (void)mutant.run(inputs);
      } catch (const DeviceError& e) {
        CHECK_THAT(e.what(), Contains("what nothing puts in order with") && Contains(" at line "));
        ++missed;
      }
    }
    INFO(program << mutants.size());
    CHECK(missed >= needed);
  }
}

TEST_CASE("commands of a script that do not wait for each other touch no common word", "[cuda][emulator]") {
  const auto said = [](bool ordered) {
    Races races;
    std::vector<std::byte> memory(64);
    races.begin({{false, false}, {ordered, false}}, {"first", "second"});
    races.watch(memory.data(), memory.size());
    races.begin_command(0);
    races.touch_all(memory.data() + 8, 8, true);
    races.begin_command(1);
    races.touch_all(memory.data(), 16, false);
    return races.found().has_value();
  };
  CHECK(said(false));
  CHECK(!said(true));
}

TEST_CASE("workloads of the bench have no races", "[cuda][emulator]") {
  const auto emulator = std::make_shared<Emulator>(Emulator::LookingForRaces{}, 5);
  const std::vector<bench::Setting> settings{{.device = emulator}};
  // Sanitizers take their time for each access.
  const std::vector<const char*> names = test::sanitized ? std::vector<const char*>{"moons-forward", "moons-vjp"}
                                                         : std::vector<const char*>{"gemm-64", "train-moons", "moons-forward", "moons-jvp", "moons-vjp", "softmax", "layer-norm", "attention", "conv-16-32-forward"};
  for (const char* name : names) {
    INFO(name);
    CHECK(bench::bits_of(bench::workload_named(name), settings, 1).bytes > 0);
  }
}
