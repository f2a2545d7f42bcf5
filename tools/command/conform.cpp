#include "conformance/conform.hpp"
#include "conformance/schemas.hpp"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/nearest.hpp"
#include "spec/protocol/message.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

constexpr const char* examples = R"(
Examples
  etalon conform --backend cpu
  etalon conform --backend cpu --ops softmax,matmul --modes vjp --json out.jsonl
  etalon conform --backend 'exec:python3 adapter.py' --timeout 5
  etalon conform --backend cpu --definitions my.txt
  etalon conform --backend cpu --replay 'softmax.vjp.f32.12@1-9f3c2a11'
Exit status: 0 the backend conforms, 1 it does not (or nothing was compared), 2 usage or set-up error.)";

struct Words {
  std::string backend;
  std::vector<std::string> operations, modes, dtypes;
  std::string tier = "quick";
  std::uint64_t seed = 1;
  unsigned jobs = 2;
  double timeout = 20;
  std::uint64_t memory = 8192;
  std::string json, cases, replay, contract, coverage, definitions;
  bool list = false;
};

[[nodiscard]] std::vector<spec::Mode> modes_of(const std::vector<std::string>& words) {
  const std::vector<std::string> names{"forward", "jvp", "vjp", "jvp_of_vjp"};
  std::vector<spec::Mode> modes;
  for (const std::string& word : words) {
    std::size_t i = 0;
    while (i < names.size() && names[i] != word) ++i;
    if (i == names.size()) throw SpecViolation(unknown_name("mode", word, names));
    modes.push_back(static_cast<spec::Mode>(i));
  }
  return modes;
}

[[nodiscard]] std::vector<DType> dtypes_of(const std::vector<std::string>& words) {
  const std::vector<std::string> names{"f32", "f64"};
  std::vector<DType> dtypes;
  for (const std::string& word : words) {
    const auto dtype = dtype_named(word);
    if (!dtype) throw SpecViolation(unknown_name("element type", word, names));
    dtypes.push_back(*dtype);
  }
  return dtypes;
}

[[nodiscard]] conformance::Tier tier_of(const std::string& word) {
  const std::vector<std::string> names{"quick", "full", "soak"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == word) return static_cast<conformance::Tier>(i);
  }
  throw SpecViolation(unknown_name("tier", word, names));
}

[[nodiscard]] int conform(const Words& words) {
  conformance::ConformOptions options;
  options.backend_name = words.backend;
  options.library = library_with(words.definitions);
  options.definitions_file = words.definitions;
  for (const std::string& own : options.library.added()) {
    if (const auto wrong = conformance::contradiction(options.library, own)) throw SpecViolation(words.definitions + ": " + *wrong);
  }
  for (const std::string& operation : words.operations) options.operations.emplace_back(options.library.named(operation).name);
  if (options.operations.empty()) options.operations = options.library.added();
  options.modes = modes_of(words.modes);
  options.dtypes = dtypes_of(words.dtypes);
  options.tier = tier_of(words.tier);
  options.seed = words.seed;
  options.jobs = words.jobs;
  options.list = words.list;
  options.terminal = isatty(STDERR_FILENO) != 0;
  if (!words.json.empty()) options.json_path = words.json;
  if (!words.coverage.empty()) options.coverage_path = words.coverage;
  if (!words.cases.empty()) options.case_folder = words.cases;
  if (!words.replay.empty()) options.replay = words.replay;
  if (!words.contract.empty()) options.contract = contract_of(words.contract);
  conformance::Limits limits;
  limits.answer = std::chrono::milliseconds(static_cast<std::int64_t>(words.timeout * 1000));
  limits.start = std::max(limits.start, limits.answer);
  limits.memory = words.memory << 20U;
  const std::unique_ptr<spec::Backend> backend = make_backend(words.backend, limits);
  options.another = [name = words.backend, limits] { return make_backend(name, limits); };
  return conformance::run_conform(options, *backend, std::cout);
}

}  // namespace

void add_conform(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("conform", "Hold a backend to the definitions: values, derivatives, steps");
  command->footer(examples);
  auto words = std::make_shared<Words>();
  command->add_option("--backend", words->backend, "Who is held: cpu, reference, cuda or exec:COMMAND")->required();
  command->add_option("--ops", words->operations, "Only these operations, separated by commas")->delimiter(',');
  command->add_option("--modes", words->modes, "Only these modes: forward, jvp, vjp")->delimiter(',');
  command->add_option("--dtypes", words->dtypes, "Only these element types: f16, bf16, f32, f64")->delimiter(',');
  command->add_option("--definitions", words->definitions, "A file with definitions of your own; only they are asked for, unless --ops names others");
  command->add_option("--tier", words->tier, "How much is asked: quick, full, soak")->capture_default_str();
  command->add_option("--seed", words->seed, "The same seed asks the same questions")->capture_default_str();
  command->add_option("--jobs", words->jobs, "Threads; the report does not depend on it")->capture_default_str();
  command->add_option("--timeout", words->timeout, "Seconds that a process may take for one answer")
      ->check(CLI::Range(0.001, 86400.0))
      ->capture_default_str();
  command->add_option("--memory", words->memory, "MiB of data that a process may have; 0 is no limit")
      ->capture_default_str();
  command->add_option("--contract", words->contract, "A shipped contract by name, or one in a JSON file, instead of the backend's own");
  command->add_option("--json", words->json, "Write one JSON object per result to this file");
  command->add_option("--coverage", words->coverage, "Write what was met, by operation, mode, type and class, to this file");
  command->add_option("--cases", words->cases, "Write shrunk counterexamples into this folder");
  command->add_option("--replay", words->replay, "Ask one case again: its id, or its file");
  command->add_flag("--list", words->list, "Print what would be asked, and stop");
  command->callback([words, &outcome] { outcome.status = conform(*words); });
}

}  // namespace etalon::command
