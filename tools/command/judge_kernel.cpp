#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "conformance/contradiction.hpp"
#include "conformance/kernel/kernel_backend.hpp"
#include "conformance/kernel/texts.hpp"
#include "conformance/kernel/verdict.hpp"
#include "conformance/shell_word.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using conformance::KernelVerdict;

constexpr const char* kernel_examples = R"(
Examples
  etalon judge-kernel softmax.c --operation softmax
  etalon judge-kernel softmax.py --operation softmax --like torch --json
  etalon judge-kernel mine.cpp --definitions mine.txt --compiler clang++ --flag=-O3 --flag=-mavx2
  etalon judge-kernel --header .                    writes etalon_kernel.h and spec/backend.h there
The kernel runs without network and without files that are not its own; docs/judging-kernels.md says what holds where.
Not judged yet: 8-bit floats and integers, int4, block scales; sort and top-k; derivatives (write their equations as definitions);
kernels of CUDA and Triton, which Python's etalon.assert_conforms(…, like=torch, device="cuda") holds unconfined.
Exit status: 0 the kernel conforms, 1 it does not, cannot be built, or nothing was compared, 2 usage or set-up error.)";

constexpr std::uint64_t usual_memory = 4096;
constexpr double usual_seconds = 10;

struct KernelWords {
  std::string file, operation, definitions, contract = "ieee", tier = "quick", like = "numpy", header;
  std::vector<std::string> dtypes{"f32"};
  conformance::KernelSource source;
  std::optional<std::uint64_t> seed;
  std::uint64_t given_seed = 0, memory = usual_memory;
  double timeout = usual_seconds, shrink_seconds = usual_seconds;
  bool strided = false, may_decline = false, unconfined = false, json = false, schema = false;
};

/// What asks the same questions again: the seed is said, whoever chose it.
[[nodiscard]] std::string again(const KernelWords& words, const KernelVerdict& verdict) {
  std::string line = fmt::format("etalon judge-kernel {} --operation {} --seed {}", conformance::shell_word(words.file),
                                 verdict.options.operation, verdict.options.seed);
  const auto add = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) line += fmt::format(" {} {}", name, conformance::shell_word(value));
  };
  add("--definitions", words.definitions, "");
  add("--contract", words.contract, "ieee");
  add("--tier", words.tier, "quick");
  add("--like", words.like, "numpy");
  add("--function", words.source.function, "kernel");
  add("--compiler", words.source.compiler, "");
  const auto number = [&](const char* name, auto value, auto usual) { add(name, fmt::format("{}", value), fmt::format("{}", usual)); };
  number("--timeout", words.timeout, usual_seconds);
  number("--memory", words.memory, usual_memory);
  number("--shrink-seconds", words.shrink_seconds, usual_seconds);
  if (words.dtypes != std::vector<std::string>{"f32"}) line += fmt::format(" --dtypes {}", fmt::join(words.dtypes, ","));
  for (const std::string& flag : words.source.flags) line += " --flag=" + conformance::shell_word(flag);
  for (const std::string& path : words.source.may_read) add("--may-read", path, "");
  for (const auto& [given, name] : {std::pair(words.strided, " --strided"), std::pair(words.may_decline, " --may-decline"),
                                    std::pair(words.unconfined, " --unconfined")})
    line += given ? name : "";
  return line;
}

/// The operation that was named, or the only definition of one's own.
[[nodiscard]] std::string operation_of(const KernelWords& words, const spec::Library& library) {
  if (!words.operation.empty()) return std::string(library.named(words.operation).name);
  if (library.added().size() == 1) return library.added()[0];
  throw SpecViolation("--operation is required: what the kernel is to compute");
}

[[nodiscard]] std::uint64_t drawn_seed() { return std::random_device{}(); }

[[nodiscard]] conformance::TrialOptions trial_of(const KernelWords& words) {
  conformance::TrialOptions options;
  options.library = library_with(words.definitions);
  for (const std::string& own : options.library.added()) {
    if (const auto wrong = conformance::contradiction(options.library, own)) throw SpecViolation(words.definitions + ": " + *wrong);
  }
  options.operation = operation_of(words, options.library);
  options.dtypes.clear();
  for (const std::string& word : words.dtypes)
    options.dtypes.push_back(
        conformance::real_dtypes[enumerator_or_throw<std::size_t>(conformance::real_dtype_names, word, "element type")]);
  options.contract = contract_of(words.contract);
  options.tier = enumerator_or_throw<conformance::Tier>(conformance::tier_names, words.tier, "tier");
  options.seed = words.seed.value_or(drawn_seed());
  options.shrink_seconds = words.shrink_seconds;
  return options;
}

void write_headers(const std::string& folder) {
  make_folder(std::filesystem::path(folder) / "spec");
  write_file(std::filesystem::path(folder) / "etalon_kernel.h", conformance::kernel_header());
  write_file(std::filesystem::path(folder) / "spec/backend.h", conformance::backend_header());
}

[[nodiscard]] double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void judge_into(KernelVerdict& verdict, const KernelWords& words) {
  const auto start = std::chrono::steady_clock::now();
  const conformance::KernelProgram program(verdict.source, verdict.text, verdict.limits);
  verdict.made_by = program.made_by();
  std::optional<std::string> complaint = program.complaint();
  conformance::KernelBackend backend(program, {verdict.options.operation, words.strided, words.may_decline}, verdict.limits);
  if (!complaint) complaint = backend.failure_to_start();
  verdict.build_seconds = seconds_since(start);
  if (complaint) {
    verdict.finding = conformance::KernelFinding::not_built;
    verdict.complaint = *complaint;
  } else {
    verdict.trial = conformance::tried(verdict.options, backend);
    verdict.finding = conformance::finding_of(verdict.trial);
  }
  verdict.answer_seconds = backend.seconds();
  verdict.seconds = seconds_since(start);
}

[[nodiscard]] int judge_kernel(const KernelWords& words) {
  if (words.schema) {
    std::cout << conformance::kernel_verdict_schema();
    return 0;
  }
  if (!words.header.empty()) {
    write_headers(words.header);
    return 0;
  }
  if (words.file.empty()) missing_argument("KERNEL");
  KernelVerdict verdict;
  verdict.source = words.source;
  verdict.source.file = words.file;
  verdict.source.torch = words.like == "torch";
  verdict.source.confined = !words.unconfined;
  (void)conformance::language_of(words.file);
  verdict.text = read_file(words.file);
  verdict.options = trial_of(words);
  verdict.contract = words.contract;
  verdict.limits.answer = std::chrono::milliseconds(static_cast<std::int64_t>(words.timeout * 1000));
  verdict.limits.start = std::max(verdict.limits.start, verdict.limits.answer);
  verdict.limits.memory = words.memory << 20U;
  verdict.again = again(words, verdict);
  judge_into(verdict, words);
  words.json ? write_json(std::cout, verdict) : write_text(std::cout, verdict);
  return exit_status(verdict);
}

void add_options(const Command& command, KernelWords& words) {
  command.option("kernel", words.file, "The kernel: a file .c, .cc, .cpp, .cxx or .py with one function");
  command.option("--operation", words.operation, "What it is to compute; of definitions of your own the only one");
  command.option("--definitions", words.definitions, "A file with definitions of your own");
  command.option("--function", words.source.function, "The function's name").with_default();
  command.option("--compiler", words.source.compiler, "The compiler, or for Python the interpreter; without it the first that is found");
  command.option("--flag", words.source.flags, "One more word for the compiler, behind -O2; may stand several times").one_word();
  command.option("--like", words.like, "What a kernel in Python gets: arrays of numpy, or tensors of torch")
      .one_of({"numpy", "torch"})
      .with_default();
  command.option("--dtypes", words.dtypes, "Element types that are asked: f16, bf16, f32, f64").separated_by(',').with_default();
  command.option("--contract", words.contract, "What its arithmetic promises: a shipped contract by name, or a JSON file").with_default();
  command.option("--tier", words.tier, "How much is asked: quick, full, soak").with_default();
  command.flag("--strided", words.strided, "Operands with strides are asked too");
  command.flag("--may-decline", words.may_decline, "Questions that it declines are no failures");
  command.option("--timeout", words.timeout, "Seconds for one answer").between(0.001, 86400.0).with_default();
  command.option("--memory", words.memory, "MiB of data that it may have; 0 is no limit").with_default();
  command.option("--shrink-seconds", words.shrink_seconds, "Time spent on making the counterexample small")
      .between(0.0, 86400.0)
      .with_default();
  command.option("--may-read", words.source.may_read, "A file or a folder that compiler and kernel may read; may stand several times")
      .one_word();
  command.flag("--unconfined", words.unconfined, "Let it reach files, network and processes; the verdict says so");
  command.flag("--json", words.json, "Print the verdict as JSON");
  command.flag("--schema", words.schema, "Print the JSON Schema of verdicts, and stop");
  command.option("--header", words.header, "Write the headers that kernels in C include into this folder, and stop");
}

}  // namespace

void add_judge_kernel(Command app, Outcome& outcome) {
  Command command = app.command("judge-kernel", "Hold one kernel in C, C++ or Python to an operation, confined");
  command.footer(kernel_examples);
  auto words = std::make_shared<KernelWords>();
  add_options(command, *words);
  const Option seed =
      command.option("--seed", words->given_seed, "The same seed asks the same questions; without it one is drawn that nobody could know");
  command.callback([words, seed, &outcome] {
    if (seed.given()) words->seed = words->given_seed;
    outcome.status = judge_kernel(*words);
  });
}

}  // namespace etalon::command
