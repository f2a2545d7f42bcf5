// What machine code says of the kernels that the library and the bench need: they compile for every GPU of the table, can be launched there, add
// nothing up in the order of threads, and are made of exact instructions but for functions that are known not to be.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "compiled/runtime/backend.hpp"
#include "conformance/cases.hpp"
#include "conformance/check.hpp"
#include "cuda/cubin.hpp"
#include "cuda/cuda_file.hpp"
#include "cuda/shared_kernels.hpp"
#include "cuda/grid.hpp"
#include "cuda/split.hpp"
#include "cuda/nvrtc.hpp"
#include "cuda/occupancy.hpp"
#include "cuda/ptx.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "tests/sanitized.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;

namespace {

/// Functions of CUDA's mathematical library that are called: some are made of IEEE's instructions alone, and have an error all the same, others are not.
constexpr std::array approximate{"expf", "exp2f", "log",  "log2", "tanf",   "tan",   "sinhf", "coshf", "cosh",
                                 "tanhf", "tanh", "erff", "erf",  "expm1f", "log1p", "powf",  "pow",   "fmodf"};
constexpr std::array made_of_exact{"exp", "exp2", "logf", "log2f", "sinf", "sin", "cosf", "cos", "sinh", "expm1", "log1pf", "fmod", "atan2f", "atan2", "sqrtf", "sqrt"};
/// Where the instructions of a function in double precision stand, which is not inlined.
constexpr const char* body_of_pow = "__internal_accurate_pow";
constexpr std::array of_two{"powf", "pow", "fmodf", "fmod", "atan2f", "atan2"};

/// A program with all that its text is written from.
struct Written {
  compiled::Task task;
  compiled::Compilation lowered;
  compiled::source::ProgramText text;
  explicit Written(compiled::Task its) : task(std::move(its)), lowered(compiled::source::lower_for_text(task, {}, cuda::machine)), text(task, lowered, "program") {}
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
};

/// The text of a kernel without comments and with its own names numbered: two that differ in names alone are the same machine code.
std::string without_names(const std::string& kernel) {
  static const std::set<std::string, std::less<>> kept{"const", "float",   "double",   "int",      "int64_t",  "int32_t",  "uint64_t",  "uint32_t", "uint16_t", "uint8_t", "bool", "char",
                                                       "void",  "for",     "if",       "else",     "return",   "while",    "threadIdx", "blockIdx", "blockDim", "gridDim", "x",    "extern",
                                                       "short", "unsigned", "true",    "false",    "continue", "break",    "switch",    "case"};
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::map<std::string, std::size_t, std::less<>> numbers;
  std::string all;
  for (std::size_t at = 0; at < kernel.size();) {
    if (kernel.compare(at, 2, "//") == 0) {
      at = std::min(kernel.find('\n', at), kernel.size());
      continue;
    }
    std::size_t end = at;
    while (end < kernel.size() && is_word(kernel[end])) ++end;
    if (end == at) {
      all += kernel[at++];
      continue;
    }
    const std::string word = kernel.substr(at, end - at);
    const bool is_called = end < kernel.size() && kernel[end] == '(';
    const bool is_named = std::isalpha(static_cast<unsigned char>(word.front())) != 0 && std::ranges::any_of(word, [](unsigned char c) { return std::islower(c) != 0; });
    const bool is_kernel = word.starts_with("kernel_");
    if (!is_kernel && (!is_named || is_called || kept.contains(word))) all += word;
    else all += "#" + std::to_string(numbers.emplace(word, numbers.size()).first->second);
    at = end;
  }
  return all;
}

/// A kernel among many of one text, with the text that its instructions come from.
struct Entry {
  std::string whose;
  cuda::Grid grid;
  std::string text;
  std::string helpers;  ///< functions that came with its program
};
using Entries = std::map<std::string, Entry>;

/// Programs that go through NVRTC together: each in a namespace of its own, its kernels renamed.
class Batch {
 public:
  /// \param seen kernels that are in a batch already, which are left out
  void add(const std::string& whose, const Written& w, std::set<std::string>& seen) {
    const std::string prefix = "p" + std::to_string(programs_++) + "_";
    std::string text = cuda::cuda_file(w.text);
    for (const auto& [name, grid] : launched(w)) {
      const std::string head = " " + name + "(";
      const std::size_t at = text.find(head, text.find("extern \"C\""));
      REQUIRE(at != std::string::npos);
      const std::size_t begin = text.rfind("extern \"C\"", at), end = std::min(text.find("extern \"C\"", at), text.size());
      const std::string kernel = text.substr(begin, end - begin);
      if (!seen.insert(without_names(kernel)).second) {
        text.erase(begin, end - begin);
        continue;
      }
      entries_[prefix + name] = {whose + ": " + name, grid, kernel, text.substr(0, text.find("extern \"C\""))};
      text.insert(at + 1, prefix);
    }
    // Functions that only kernels use which are left out are no reason for a warning.
    for (std::size_t at = 0; (at = text.find("static __device__ inline", at)) != std::string::npos;) text.erase(at, 7);
    text_ += "namespace " + prefix + " {\n" + text + "}\n";
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const Entries& entries() const { return entries_; }
  [[nodiscard]] std::size_t programs() const { return programs_; }

 private:
  /// The kernels with their grids, those that make parts of sums among them, from the last one on.
  [[nodiscard]] static std::vector<std::pair<std::string, cuda::Grid>> launched(const Written& w) {
    std::vector<std::pair<std::string, cuda::Grid>> all;
    const cuda::Splits splits = cuda::splits_of(w.lowered.system, w.lowered.script, w.lowered.nests);
    const cuda::SharedKernels shared(w.text);
    for (std::size_t k = w.lowered.nests.size(); k-- > 0;) {
      if (shared.model_of(k) != k) continue;
      all.emplace_back(w.text.kernel_name(k), cuda::grid_of(w.lowered.system, w.lowered.nests[k]));
      if (const auto split = splits.of.find(k); split != splits.of.end()) all.emplace_back(cuda::parts_kernel(w.text.kernel_name(k)), split->second.split.grid);
    }
    return all;
  }

  std::size_t programs_ = 0;
  std::string text_;
  Entries entries_;
};

constexpr std::size_t programs_at_once = 60;

std::vector<Batch> batches_of_the_bench(std::set<std::string>& seen) {
  std::vector<Batch> batches(1);
  std::set<std::string> programs;
  for (const bench::Workload& w : bench::all_workloads()) {
    const spec::Program program = bench::program_of(w, DType::f32);
    if (programs.insert(to_text(program)).second) batches.back().add(w.name, Written(compiled::task_of(program)), seen);
  }
  return batches;
}

/// The first system that the suite asks of each definition, and of its cotangents.
std::vector<Batch> batches_of_the_library(std::set<std::string>& seen) {
  struct Noting final : conformance::Asked {
    explicit Noting(spec::Backend& b) : backend(b) {}
    spec::Answer run(const spec::Request& request) override { return backend.run(request); }
    spec::Backend& backend;
  };
  std::vector<Batch> batches(1);
  std::string whose;
  bool is_noted = false;
  const auto notes = compiled::make_system_backend("cpu", [&](const spec::System& s) -> compiled::Runner {
    if (!is_noted) {
      if (batches.back().programs() == programs_at_once) batches.emplace_back();
      batches.back().add(whose, Written(compiled::task_of(s)), seen);
      is_noted = true;
    }
    throw Unsupported("only noted");
  });
  Noting noting(*notes);
  conformance::ConformOptions options;
  options.backend_name = "cpu";
  options.checks = {conformance::Check::value, conformance::Check::vjp};
  options.jobs = 1;
  std::set<std::string> done;
  for (const conformance::Unit& unit : conformance::plan(options)) {
    whose = unit.operation + "." + std::string(name_of(unit.check));
    if (!done.insert(whose).second) continue;
    conformance::Cases cases(unit, options);
    is_noted = false;
    for (auto next = cases.next(); next && !is_noted; next = cases.next()) {
      if (next->made) (void)conformance::check(*next->made, noting, spec::contract_named("cpu"));
    }
  }
  return batches;
}

/// Whether a text calls one of the functions that are approximate.
bool calls_approximate(const std::string& text) {
  return std::ranges::any_of(approximate, [&](const std::string& name) {
    for (std::size_t at = text.find(name + "("); at != std::string::npos; at = text.find(name + "(", at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_') return true;
    }
    return false;
  });
}

/// Why a kernel has memory of its own per thread: sums that wait for others of their size in an array, or a function that turns great angles round.
bool has_reason_for_a_stack(const std::string& text) {
  constexpr std::array reasons{"waiting[", "et_wait_", "sinf(", "sin(", "cosf(", "cos(", "tanf(", "tan("};
  return std::ranges::any_of(reasons, [&](const char* reason) { return text.find(reason) != std::string::npos; });
}

/// What is known of a GPU's kernels: those whose registers do not suffice, and no more.
struct Spilling {
  int capability;
  std::size_t kernels;
};
constexpr std::array known_spilling{Spilling{80, 3}, Spilling{90, 4}, Spilling{120, 3}};

void look_at(std::span<const Batch> batches, const cuda::Gpu& gpu, std::vector<std::string>& spilling) {
  for (const Batch& batch : batches) {
    const cuda::MachineCode code = cuda::compile_to_machine_code(batch.text(), "sm_" + std::to_string(gpu.capability));
    const std::vector<cuda::CompiledKernel> kernels = cuda::kernels_in(code.cubin);
    CHECK(kernels.size() == batch.entries().size());
    for (const cuda::CompiledKernel& kernel : kernels) {
      const Entry& entry = batch.entries().at(kernel.name);
      INFO(entry.whose << " on sm_" << gpu.capability);
      const cuda::LaunchNeeds needs{static_cast<std::size_t>(entry.grid.blocks), static_cast<std::size_t>(entry.grid.threads), kernel.registers,
                                    kernel.shared_bytes + static_cast<std::size_t>(entry.grid.shared_bytes)};
      CHECK(cuda::resident_blocks(needs, gpu) > 0);
      const bool has_stack = kernel.local_bytes > 0 || kernel.instructions.of("LDL") + kernel.instructions.of("STL") > 0;
      if (has_stack && !has_reason_for_a_stack(entry.text)) spilling.push_back(entry.whose);
    }
    std::set<std::string> conspicuous;
    for (const cuda::PtxFinding& f : cuda::findings_in_ptx(code.ptx)) {
      INFO(f.function << " on sm_" << gpu.capability << ", line " << f.line << ": " << f.instruction);
      CHECK(f.kind != cuda::PtxFinding::Kind::unordered);
      if (f.function == body_of_pow) continue;
      REQUIRE(batch.entries().contains(f.function));
      if (conspicuous.insert(f.function).second) CHECK(calls_approximate(batch.entries().at(f.function).helpers + batch.entries().at(f.function).text));
    }
  }
}

/// Compiling is none of what sanitizers watch, and one GPU is enough there.
void check_kernels(const char* architecture) {
  if (!cuda::has_nvrtc()) return;
  const cuda::Gpu& gpu = cuda::gpu_of(architecture);
  if (test::sanitized && gpu.capability != 90) return;
  std::set<std::string> seen;
  const std::vector<Batch> bench = batches_of_the_bench(seen), library = batches_of_the_library(seen);
  REQUIRE(seen.size() > 500);
  std::vector<std::string> spilling;
  look_at(bench, gpu, spilling);
  look_at(library, gpu, spilling);
  std::string names;
  for (const std::string& name : spilling) names += "\n" + name;
  INFO("kernels that spill:" << names);
  CHECK(spilling.size() <= std::ranges::find(known_spilling, gpu.capability, &Spilling::capability)->kernels);
}

}  // namespace

TEST_CASE("functions that are known to be approximate are, and no others", "[cuda][evidence]") {
  if (!cuda::has_nvrtc()) return;
  std::string text;
  const auto add = [&](const std::string& name) {
    const std::string type = name.ends_with('f') && name != "erf" ? "float" : "double";
    const std::string other = std::ranges::find(of_two, name) != of_two.end() ? ", x[1]" : "";
    text += "extern \"C\" __global__ void " + name + "_kernel(" + type + " *x) { *x = " + name + "(*x" + other + "); }\n";
  };
  for (const char* name : approximate) add(name);
  for (const char* name : made_of_exact) add(name);
  text += "extern \"C\" __global__ void exact(float *x, double *y) { *x = x[1] / x[2] + fmaf(x[3], x[4], x[5]); *y = y[1] / y[2] + fma(y[3], y[4], y[5]); }\n";
  std::set<std::string> found, expected;
  for (const cuda::PtxFinding& f : cuda::findings_in_ptx(cuda::compile_to_ptx(text))) found.insert(f.function);
  for (const std::string name : approximate) expected.insert(name == "pow" ? body_of_pow : name + "_kernel");
  CHECK(found == expected);
}

TEST_CASE("kernels of the bench and of the library are what they are said to be on sm_80", "[cuda][evidence]") { check_kernels("sm_80"); }
TEST_CASE("kernels of the bench and of the library are what they are said to be on sm_90", "[cuda][evidence]") { check_kernels("sm_90"); }
TEST_CASE("kernels of the bench and of the library are what they are said to be on sm_120", "[cuda][evidence]") { check_kernels("sm_120"); }
