#include "conformance/conform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "conformance/contradiction.hpp"
#include "spec/contract/contract.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/library/library.hpp"
#include "spec/protocol/message.hpp"
#include "tools/command/command.hpp"
#include "tools/command/terminal.hpp"

namespace etalon::command {
namespace {

constexpr const char* conform_examples = R"(
Examples
  etalon conform --backend cpu
  etalon conform --backend cpu:2                    every kernel, however short, shared by two threads
  etalon conform --backend cpu --ops softmax,matmul --modes vjp --json out.jsonl
  etalon conform --backend 'exec:python3 adapter.py' --timeout 5
  etalon conform --backend cpu --definitions my.txt
  etalon conform --backend cpu --replay 'softmax.vjp.f32.0012@1-9f3c2a11'
  etalon conform --show 'softmax.vjp.f32.0012@1-9f3c2a11'
  etalon conform --backend cpu --tier soak --json soak.jsonl; etalon conform --backend cpu --tier soak --resume soak.jsonl
  etalon conform --backend cpu --shard 2/5 --junit share2.xml --waivers known.json
Exit status: 0 the backend conforms, 1 it does not, nothing was compared, or a waiver is out of date, 2 usage or set-up error.)";

struct ConformWords {
  std::string backend;
  std::vector<std::string> operations, modes, checks, dtypes;
  std::string tier = "quick", profile;
  std::uint64_t seed = 1;
  unsigned jobs = 2;
  double timeout = 20;
  std::uint64_t memory = 8192;
  std::string json, cases, replay, shown, contract, coverage, definitions, waivers, resume, shard;
  conformance::Formats formats;
  bool list = false, dry_run = false;
  double shrink_seconds = 30;
};

/// What the words name.
template <class E, std::size_t n>
[[nodiscard]] std::vector<E> named(const std::vector<std::string>& words, const std::array<std::string_view, n>& names, std::string_view what) {
  std::vector<E> all;
  for (const std::string& word : words) all.push_back(enumerator_or_throw<E>(names, word, what));
  return all;
}

template <std::size_t n>
[[nodiscard]] std::string list_of(const std::array<std::string_view, n>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

[[nodiscard]] std::vector<DType> dtypes_of(const std::vector<std::string>& words) {
  std::vector<DType> dtypes;
  for (const std::size_t i : named<std::size_t>(words, conformance::real_dtype_names, "element type")) dtypes.push_back(conformance::real_dtypes[i]);
  return dtypes;
}

// `2/5`, or nothing for everything.
[[nodiscard]] conformance::Shard shard_of(const std::string& word) {
  if (word.empty()) return {};
  conformance::Shard shard;
  const char* const end = word.data() + word.size();
  const auto [slash, wrong] = std::from_chars(word.data(), end, shard.index);
  const bool divided = wrong == std::errc() && slash != end && *slash == '/';
  const auto [stop, wrong_too] = divided ? std::from_chars(slash + 1, end, shard.count) : std::from_chars_result{};
  if (!divided || wrong_too != std::errc() || stop != end || shard.index < 1 || shard.index > shard.count)
    throw SpecViolation("--shard: expected i/n with 1 <= i <= n, found '" + word + "'");
  return shard;
}

// What an interrupted run leaves, and how to go on.
[[nodiscard]] std::string kept_by(const conformance::ConformOptions& options) {
  if (!options.json_path) return "interrupted: nothing was kept; with --json FILE the answers are, and --resume FILE goes on from them";
  return "interrupted: " + *options.json_path + " has what was answered; the same command with --resume " + *options.json_path +
         " asks only the rest";
}

[[nodiscard]] int conform(const ConformWords& words) {
  conformance::ConformOptions options;
  options.backend_name = words.backend;
  options.library = library_with(words.definitions);
  options.definitions_file = words.definitions;
  for (const std::string& own : options.library.added()) {
    if (const auto wrong = conformance::contradiction(options.library, own)) throw SpecViolation(words.definitions + ": " + *wrong);
  }
  for (const std::string& operation : words.operations) options.operations.emplace_back(options.library.named(operation).name);
  if (options.operations.empty()) options.operations = options.library.added();
  options.modes = named<spec::Mode>(words.modes, spec::mode_names, "mode");
  if (!words.profile.empty()) options.profile = enumerator_or_throw<conformance::Profile>(conformance::profile_names, words.profile, "profile");
  if (options.profile && !options.modes.empty()) throw SpecViolation("--profile: says the modes; leave --modes out");
  // All asks for second derivatives too, where they are offered.
  if (options.profile && *options.profile != conformance::Profile::all) options.modes = conformance::modes_of(*options.profile);
  options.checks = named<conformance::Check>(words.checks, conformance::check_names, "check");
  options.dtypes = dtypes_of(words.dtypes);
  options.tier = enumerator_or_throw<conformance::Tier>(conformance::tier_names, words.tier, "tier");
  options.seed = words.seed;
  options.jobs = words.jobs;
  options.shard = shard_of(words.shard);
  options.dry_run = words.dry_run;
  if (isatty(STDERR_FILENO) != 0) options.progress = &std::cerr;
  options.columns = [] { return terminal_columns(STDERR_FILENO); };
  options.width = output_columns();
  options.errors = &std::cerr;
  options.formats = words.formats;
  if (!words.waivers.empty()) options.waivers = conformance::parse_waivers(read_file(words.waivers), words.waivers, options.library);
  if (words.list) return conformance::list_cases(options, std::cout);
  if (!words.contract.empty()) options.contract = contract_of(words.contract);
  if (!words.shown.empty()) return conformance::show_case(options, words.shown, std::cout);
  if (words.backend.empty()) throw SpecViolation("--backend is required");
  // Before the backend starts: what cannot be written is known now.
  for (const std::string* file : {&words.json, &words.coverage, &words.formats.html, &words.formats.junit, &words.formats.markdown, &words.formats.badge}) {
    if (!file->empty()) check_writable(*file);
  }
  if (!words.cases.empty()) make_folder(words.cases);
  if (!words.resume.empty()) options.resume = words.resume;
  if (!words.json.empty() || !words.resume.empty()) options.json_path = words.json.empty() ? words.resume : words.json;
  options.shrink_seconds = words.shrink_seconds;
  if (!words.coverage.empty()) options.coverage_path = words.coverage;
  if (!words.cases.empty()) options.case_folder = words.cases;
  if (!words.replay.empty()) options.replay = words.replay;
  conformance::Limits limits;
  limits.answer = std::chrono::milliseconds(static_cast<std::int64_t>(words.timeout * 1000));
  limits.start = std::max(limits.start, limits.answer);
  limits.memory = words.memory << 20U;
  const std::unique_ptr<spec::Backend> backend = make_backend(words.backend, limits);
  options.another = [name = words.backend, limits] { return make_backend(name, limits); };
  if (!options.replay && !options.dry_run) say_when_interrupted(kept_by(options));
  return conformance::run_conform(options, *backend, std::cout);
}

}  // namespace

void add_conform(Command app, Outcome& outcome) {
  Command command = app.command("conform", "Hold a backend to the definitions: values, derivatives, steps");
  command.footer(conform_examples);
  auto words = std::make_shared<ConformWords>();
  command.option("--backend", words->backend, "Who is held: cpu, cpu:THREADS, cpu-drawn:SEED (each program with a schedule drawn at random), cpu-bf16 (products of bf16 where the machine has them), cpu-c (emitted C through a C compiler, slow), reference, cuda-emulated (CUDA C++ without a GPU), cuda-emulated:races (which looks for threads that do not wait for each other, slow), cuda, cuda and cuda-emulated also with -bf16 (products on tensor cores), exec:COMMAND, plugin:PATH.so or pjrt:PATH.so; only --list and --show need none");
  command.option("--ops", words->operations, "Only these operations, separated by commas").separated_by(',');
  command.option("--modes", words->modes, "Only these modes: " + list_of(spec::mode_names)).separated_by(',');
  command.option("--checks", words->checks, "Only these checks: " + list_of(conformance::check_names)).separated_by(',');
  command.option("--dtypes", words->dtypes, "Only these element types: " + list_of(conformance::real_dtype_names)).separated_by(',');
  command.option("--definitions", words->definitions, "A file with definitions of your own; only they are asked for, unless --ops names others");
  command.option("--profile", words->profile, "What \"conforms\" is to cover: inference (values), training (and reverse derivatives), all (and forward ones)");
  command.option("--tier", words->tier, "How much is asked: " + list_of(conformance::tier_names)).with_default();
  command.option("--seed", words->seed, "The same seed asks the same questions").with_default();
  command.option("--jobs", words->jobs, "Threads; the report does not depend on it").with_default();
  command.option("--timeout", words->timeout, "Seconds that a process may take for one answer")
      .between(0.001, 86400.0)
      .with_default();
  command.option("--memory", words->memory, "MiB of data that a process may have; 0 is no limit")
      .with_default();
  command.option("--contract", words->contract, "A shipped contract by name, or one in a JSON file, instead of the backend's own");
  command.option("--json", words->json, "Write one JSON object per result to this file");
  command.option("--coverage", words->coverage, "Write what was met, by operation, mode, type and class, to this file");
  command.option("--cases", words->cases, "Write shrunk counterexamples into this folder");
  command.option("--shrink-seconds", words->shrink_seconds, "Time spent on making one counterexample small")
      .between(0.0, 86400.0)
      .with_default();
  command.option("--replay", words->replay, "Ask one case again: its id, or its file");
  command.option("--show", words->shown, "Print one case with its numbers and what is expected, without a backend: its id, or its file");
  add_formats(command, words->formats);
  command.option("--waivers", words->waivers, "A JSON file of failures that do not count, each with a reason and a date");
  command.option("--shard", words->shard, "Only the i-th of n shares, as i/n; all shares together ask everything once");
  command.option("--resume", words->resume, "JSON lines of an interrupted run: what stands there is not asked again");
  command.flag("--list", words->list, "Print the ids of all cases that would be asked, and stop");
  command.flag("--dry-run", words->dry_run, "Start the backend, say what would be asked, and ask nothing");
  command.callback([words, &outcome] { outcome.status = conform(*words); });
}

}  // namespace etalon::command
