#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "conformance/pack/arrays.hpp"
#include "conformance/pack/json.hpp"
#include "conformance/pack/judge.hpp"
#include "conformance/pack/read.hpp"
#include "conformance/pack/write.hpp"
#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using conformance::PackedFile;
using conformance::PackedTest;
using conformance::PackIndex;
using conformance::Verdict;
using spec::Json;

constexpr const char* pack_examples = R"(
A golden pack is a folder of drawn cases with everything that a contract admits of their answers: who reads it needs no
Etalon (docs/packs.md, docs/packs/). Its tests are requests of Protocol 1, so that adapters answer them unchanged.
Examples
  etalon pack write --ops softmax,matmul -o packs       packs/etalon-pack-1-ieee-<hash>: a file per operation
  etalon pack check packs/etalon-pack-1-ieee-68c84942   digests, counts, and whether every test can be read
  etalon pack requests PACK | python3 adapter.py | etalon pack judge PACK
  etalon pack show PACK 'softmax.vjp.f32.12@1-68c84942' one test in numbers that people read
  etalon pack header PACK softmax > softmax_tests.h     the same as C arrays; --language rust for Rust
Exit status: 0 done, and with check and judge: nothing is wrong; 1 something is, or nothing was compared; 2 usage or set-up error.)";

struct PackWords {
  std::vector<std::string> operations, dtypes;
  std::string folder, out = ".", tier = "quick", contract = "ieee", id, operation, language = "c";
  std::uint64_t seed = 1;
  unsigned jobs = 2;
  bool json = false, well_typed = false;
};

void show_progress(std::size_t done, std::size_t all) {
  std::cerr << fmt::format("\r\033[K{} of {} operations", done, all) << (done == all ? "\r\033[K" : "") << std::flush;
}

/// A contract's name as a part of a folder's.
[[nodiscard]] std::string contract_name(const std::string& word) { return std::filesystem::path(word).stem().string(); }

[[nodiscard]] int write(const PackWords& words) {
  conformance::ConformOptions options;
  for (const std::string& operation : words.operations) options.operations.emplace_back(options.library.named(operation).name);
  for (const std::string& dtype : words.dtypes)
    options.dtypes.push_back(conformance::real_dtypes[enumerator_or_throw<std::size_t>(conformance::real_dtype_names, dtype, "element type")]);
  options.tier = enumerator_or_throw<conformance::Tier>(conformance::tier_names, words.tier, "tier");
  options.seed = words.seed;
  options.jobs = words.jobs;
  const bool shown = isatty(STDERR_FILENO) != 0;
  const conformance::WrittenPack pack = conformance::make_pack(options, contract_of(words.contract), contract_name(words.contract),
                                                               shown ? show_progress : std::function<void(std::size_t, std::size_t)>());
  const std::string folder = conformance::write_pack(pack, words.out).string();
  std::size_t tests = 0, left_out = 0, bytes = 0;
  for (const PackedFile& f : pack.index.files) {
    tests += f.tests;
    left_out += f.left_out;
  }
  for (const auto& [name, text] : pack.files) bytes += text.size();
  if (words.json) {
    std::cout << spec::to_line(Json{{"folder", folder}, {"operations", pack.index.files.size()}, {"tests", tests}, {"left_out", left_out}, {"bytes", bytes}}) << '\n';
  } else {
    std::cout << fmt::format("{}: {} tests of {} operations, {:.1f} MB; {} cases with too many ways left out\n", folder, tests, pack.index.files.size(),
                             static_cast<double>(bytes) / 1e6, left_out);
  }
  return 0;
}

[[nodiscard]] int check(const PackWords& words) {
  const PackIndex index = conformance::read_pack(words.folder);
  const std::vector<std::string> faults = conformance::faults_of(words.folder, index);
  std::size_t tests = 0;
  for (const PackedFile& f : index.files) tests += f.tests;
  const bool ours = index.specification == conformance::specification_hash();
  if (words.json) {
    std::cout << spec::to_line(Json{{"ok", faults.empty()}, {"contract", index.contract}, {"specification", index.specification}, {"this_specification", ours},
                                    {"tier", index.tier}, {"seed", index.seed}, {"tests", tests}, {"faults", faults}}) << '\n';
  } else {
    for (const std::string& fault : faults) std::cout << fault << '\n';
    std::cout << fmt::format("{} tests of {} operations, contract {}, {} specification {}: {}\n", tests, index.files.size(), index.contract,
                             ours ? "this" : "another", index.specification.substr(0, 8), faults.empty() ? "nothing is wrong" : fmt::format("{} faults", faults.size()));
  }
  return faults.empty() ? 0 : 1;
}

/// The tests of the operation that are asked.
[[nodiscard]] std::vector<PackedTest> tests_in(const PackWords& words, const PackedFile& file) {
  std::vector<PackedTest> tests = conformance::read_operation(words.folder, file).tests;
  if (words.well_typed) std::erase_if(tests, [](const PackedTest& test) { return test.rejected; });
  return tests;
}

/// All requests, or those of some operations, one line each.
[[nodiscard]] int requests(const PackWords& words) {
  for (const PackedFile& file : conformance::files_of(conformance::read_pack(words.folder), words.operations)) {
    for (const PackedTest& test : tests_in(words, file)) std::cout << spec::encode(test.request) << '\n';
  }
  return 0;
}

/// The answers of standard input, by the id of what they answer.
[[nodiscard]] std::map<std::string, spec::Answer> answers_of_input() {
  std::map<std::string, spec::Answer> answers;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      spec::Reply reply = spec::decode_reply(line);
      if (!answers.emplace(reply.id, std::move(reply.answer)).second) throw SpecViolation("a second answer to " + reply.id);
    } catch (const std::exception& error) {
      throw SpecViolation(fmt::format("standard input:{}: {}", number, error.what()));
    }
  }
  return answers;
}

struct Judged {
  std::map<std::string, std::size_t> verdicts;  ///< by name, `unanswered` among them
  Json failures = Json::array();
  std::size_t compared = 0;

  void count(const PackedTest& test, const std::string& operation, const conformance::Outcome& outcome) {
    ++verdicts[std::string(name_of(outcome.verdict))];
    compared += outcome.comparisons - outcome.undecided;
    if (outcome.verdict == Verdict::fail)
      failures.push_back({{"id", test.request.id}, {"operation", operation}, {"mode", name_of(test.request.mode)}, {"flags", test.flags}, {"why", outcome.why}});
  }
  [[nodiscard]] bool conforms() const { return failures.empty() && compared > 0 && !verdicts.contains("unanswered"); }
};

void print(const Judged& judged) {
  for (const Json& failure : judged.failures) std::cout << failure.at("id").get<std::string>() << ": " << failure.at("why").get<std::string>() << '\n';
  std::string counts;
  for (const auto& [name, count] : judged.verdicts) counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, name);
  std::cout << fmt::format("{}; {} elements compared: {}\n", counts.empty() ? "no tests" : counts, judged.compared,
                           judged.conforms() ? "nothing failed" : judged.failures.empty() ? "not all was answered" : "it fails");
}

[[nodiscard]] int judge(const PackWords& words) {
  const std::vector<PackedFile> files = conformance::files_of(conformance::read_pack(words.folder), words.operations);
  std::map<std::string, spec::Answer> answers = answers_of_input();
  Judged judged;
  for (const PackedFile& file : files) {
    for (const PackedTest& test : tests_in(words, file)) {
      const auto answer = answers.extract(test.request.id);
      if (answer.empty()) ++judged.verdicts["unanswered"];
      else judged.count(test, file.operation, conformance::judge(test, answer.mapped()));
    }
  }
  if (!answers.empty()) throw SpecViolation("standard input: " + answers.begin()->first + " is the id of no test that is asked");
  if (words.json) std::cout << spec::to_line(Json{{"ok", judged.conforms()}, {"verdicts", judged.verdicts}, {"compared", judged.compared}, {"failures", judged.failures}}) << '\n';
  else print(judged);
  return judged.conforms() ? 0 : 1;
}

/// The operation is the id's first part.
[[nodiscard]] PackedTest test_named(const PackWords& words) {
  const std::string operation = words.id.substr(0, words.id.find('.'));
  const auto files = conformance::files_of(conformance::read_pack(words.folder), {operation});
  std::vector<std::string> ids;
  for (PackedTest& test : conformance::read_operation(words.folder, files.front()).tests) {
    if (test.request.id == words.id) return std::move(test);
    ids.push_back(test.request.id);
  }
  throw SpecViolation("pack: " + unknown_name("test", words.id, ids));
}

void print(std::string_view name, const HostTensor& t) {
  std::cout << fmt::format("  {} : {}{} {{", name, name_of(t.dtype), to_string(t.dims));
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i)
    std::cout << (i == 0 ? "" : ", ") << (t.dtype == DType::i64 ? fmt::format("{}", t.view<std::int64_t>()[i]) : fmt::format("{}", conformance::element(t, i)));
  std::cout << "}\n";
}

void print(const char* list, const std::vector<std::optional<HostTensor>>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]) print(fmt::format("{}[{}]", list, i), *tensors[i]);
  }
}

[[nodiscard]] int show(const PackWords& words) {
  const PackedTest test = test_named(words);
  if (words.json) {
    std::cout << conformance::to_json(conformance::PackedOperation{words.id.substr(0, words.id.find('.')), "", {test}});
    return 0;
  }
  std::cout << test.request.id << " (" << name_of(test.request.mode) << ")\n" << spec::to_text(test.request.program);
  for (const std::string& flag : test.flags) std::cout << "  " << flag << ": " << conformance::note_of(flag) << '\n';
  for (std::size_t i = 0; i < test.request.inputs.size(); ++i) print(test.request.program.inputs.at(i).name, test.request.inputs[i]);
  print("tangents", test.request.tangents);
  print("cotangents", test.request.cotangents);
  print("cotangent_tangents", test.request.cotangent_tangents);
  if (test.rejected) std::cout << "it must be rejected\n";
  for (const conformance::PackedResult& result : test.results) {
    const std::string name = fmt::format("{}[{}]", result.list, result.index);
    print(name + " meant", result.value);
    for (std::size_t w = 0; w < result.ways.size(); ++w) {
      const std::string way = result.ways.size() == 1 ? name : fmt::format("{} way {}{}", name, w + 1, test.joint ? " (joint)" : "");
      print(way + " from", result.ways[w].lower);
      print(way + " to  ", result.ways[w].upper);
      for (std::size_t i = 0; i < result.ways[w].admits.size(); ++i) {
        if (result.ways[w].admits[i] != reference::admits_finite) std::cout << fmt::format("    element {} admits {} (1 number, 2 inf, 4 -inf, 8 nan, 16 anything)\n", i, result.ways[w].admits[i]);
      }
    }
  }
  return 0;
}

[[nodiscard]] int header(const PackWords& words) {
  const PackIndex index = conformance::read_pack(words.folder);
  const auto files = conformance::files_of(index, {words.operation});
  const auto language = enumerator_or_throw<conformance::ArrayLanguage>(conformance::array_language_names, words.language, "language");
  const std::string pack = fmt::format("etalon-pack-{}-{}-{}", conformance::pack_version, index.contract, index.specification.substr(0, 8));
  std::cout << conformance::arrays_of(conformance::read_operation(words.folder, files.front()), language, pack);
  return 0;
}

}  // namespace

void add_pack(Command app, Outcome& outcome) {
  Command pack = app.command("pack", "Golden packs: drawn cases with all that their answers may be, for who has no Etalon");
  pack.footer(pack_examples);
  auto words = std::make_shared<PackWords>();
  const auto inside = [&](const char* name, const char* description, int (*run)(const PackWords&)) {
    Command command = pack.command(name, description);
    command.callback([words, &outcome, run] { outcome.status = run(*words); });
    return command;
  };
  const auto of_folder = [&](const char* name, const char* description, int (*run)(const PackWords&)) {
    Command command = inside(name, description, run);
    command.option("PACK", words->folder, "The folder of a pack").required();
    return command;
  };
  Command written = inside("write", "Draw cases, bound their answers, and write a pack", write);
  written.option("--ops", words->operations, "Only these operations, separated by commas").separated_by(',');
  written.option("--dtypes", words->dtypes, "Only these element types; without it f32 and f64, and beyond the quick tier f16 and bf16").separated_by(',');
  written.option("--tier", words->tier, "How many cases: quick, full or soak").with_default();
  written.option("--contract", words->contract, "What answers promise: a shipped contract by name, or a JSON file").with_default();
  written.option("--seed", words->seed, "The same seed draws the same cases").with_default();
  written.option("--jobs", words->jobs, "Threads; the bytes do not depend on it").with_default();
  written.option("-o,--out", words->out, "The folder that the pack's own is made in").with_default();
  Command checked = of_folder("check", "Say what is wrong with a pack: digests, counts, tests that cannot be read", check);
  Command asked = of_folder("requests", "Print the requests, one per line, for an adapter", requests);
  Command judged = of_folder("judge", "Judge answers of standard input, one line of Protocol 1 each", judge);
  for (const Command& some : {asked, judged}) {
    some.option("--ops", words->operations, "Only these operations, separated by commas").separated_by(',');
    some.flag("--well-typed", words->well_typed, "Without the tests that must be rejected, for who promotes instead");
  }
  Command shown = of_folder("show", "Print one test in numbers that people read", show);
  shown.option("ID", words->id, "The test's id").required();
  Command made = of_folder("header", "Print an operation's tests as arrays in source", header);
  made.option("OPERATION", words->operation, "Whose tests").required();
  made.option("--language", words->language, "c (a header of C99) or rust").with_default();
  for (const Command& one : {written, checked, judged, shown}) one.flag("--json", words->json, "JSON instead of text");
  pack.alone([] { throw SpecViolation("pack: a command is missing; etalon pack --help lists them"); });
}

}  // namespace etalon::command
