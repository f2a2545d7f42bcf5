#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/program/extents.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/cache_folder.hpp"
#include "compiled/tuned.hpp"
#include "tools/command/tuning.hpp"
#endif

namespace etalon::command {

#ifdef ETALON_HAS_COMPILED

namespace {

constexpr const char* tune_examples = R"(
The program runs on drawn inputs. One decision of the compiler after the other is changed to one beside it: another tile, other
blocks, a factor copied or not. A change is kept where it runs faster, sampled in turn with the best so far, and where the
results have the same bits. With --reorder-sums decisions are tried too that add terms in another order, such as which
equations share loops; results then differ within what their roundings allow.
What is found is kept beside the cache, by program and machine, and used where it is asked for: --schedule tuned.

Examples
  etalon tune step.txt --seconds 30
  etalon compile step.txt --schedule tuned --dump-after plan
  etalon tune step.txt --seconds 60 --reorder-sums -o step.schedule
  etalon compile step.txt --schedule step.schedule
  etalon tune step.txt --conform
Exit status: 0 searched, whatever was found, 1 with --conform where what was found does not conform; 2 usage or set-up error.)";

struct TuneWords {
  std::string path;
  std::string definitions;
  std::string output;
  std::string cache;
  bool json = false;
  TuningOptions options;
};

nlohmann::ordered_json json_of(const std::optional<conformance::Outcome>& outcome) {
  if (!outcome) return nullptr;
  return {{"verdict", name_of(outcome->verdict)}, {"comparisons", outcome->comparisons}, {"undecided", outcome->undecided}, {"why", outcome->why}};
}

void print_json(const TuneWords& words, const Tuned& found, const std::string& file) {
  nlohmann::ordered_json decisions = nlohmann::ordered_json::array();
  for (const compiled::DecisionLine& line : found.decisions) decisions.push_back(compiled::to_text(line));
  const nlohmann::ordered_json all{{"program", words.path},
                                   {"seconds_before", file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(found.before)},
                                   {"seconds_after", file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(found.after)}, {"tried", found.tried},
                                   {"refused", found.refused}, {"other_results", found.other}, {"decisions", decisions}, {"conforms", json_of(found.outcome)},
                                   {"file", file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(file)}};
  std::cout << all.dump() << "\n";
}

/// \returns the file; empty where nothing was found.
std::string keep(const TuneWords& words, const spec::Program& program, const Tuned& found) {
  if (found.decisions.empty()) return {};
  std::filesystem::path file = words.output;
  if (file.empty()) {
    const std::filesystem::path folder = words.cache.empty() ? compiled::default_cache_folder() : std::filesystem::path(words.cache);
    if (folder.empty()) throw SpecViolation("tune: there is no folder for what is found; give -o FILE or --cache FOLDER");
    make_folder(folder);
    file = tuned_file(folder, program, found.machine);
  }
  write_file(file, fmt::format("# {}: {:.4g} ms instead of {:.4g} with {} threads\n", words.path, found.after * 1e3, found.before * 1e3, words.options.threads) +
                       compiled::to_text(found.decisions));
  return file.string();
}

int status_of(const Tuned& found) { return found.outcome && found.outcome->verdict == conformance::Verdict::fail ? 1 : 0; }

int tune_file(const TuneWords& words) {
  if (!words.output.empty()) check_writable(words.output);
  const spec::Program program = with_extents(program_in_file(words.path, words.definitions));
  TuningOptions options = words.options;
  if (!words.json) options.progress = [](const std::string& line) { std::cerr << line << std::endl; };
  const Tuned found = tune(program, options);
  const std::string file = keep(words, program, found);
  if (words.json) {
    print_json(words, found, file);
    return status_of(found);
  }
  std::cout << fmt::format("{}: {} tried, {} refused, {} with other results\n", words.path, found.tried, found.refused, found.other);
  if (file.empty()) std::cout << "nothing faster was found\n";
  else std::cout << fmt::format("{}: {} changes, {:.4g} ms instead of {:.4g}\n", file, found.decisions.size(), found.after * 1e3, found.before * 1e3);
  if (found.outcome) {
    std::cout << fmt::format("{}: {} comparisons{}\n", name_of(found.outcome->verdict), found.outcome->comparisons, found.outcome->why.empty() ? "" : ": " + found.outcome->why);
  }
  return status_of(found);
}

}  // namespace

void add_tune(Command app, Outcome& outcome) {
  Command command = app.command("tune", "Search for a faster schedule of a program");
  command.footer(tune_examples);
  auto words = std::make_shared<TuneWords>();
  command.option("file", words->path, "The program, as text or JSON").required();
  command.option("--definitions", words->definitions, "A file with definitions of your own");
  command.option("--seconds", words->options.seconds, "Of searching; compiling counts").positive().with_default();
  command.option("--threads", words->options.threads, "That run the program").between(1, 1024).with_default();
  command.option("--seed", words->options.seed, "Of the inputs and of the order of changes").with_default();
  command.flag("--reorder-sums", words->options.reorder_sums, "Try decisions too that add terms in another order: bits differ then");
  command.flag("--conform", words->options.conform, "Hold what was found to the definitions, as conform does: the reference takes its time");
  command.option("-o,--output", words->output, "The file of what is found, instead of one beside the cache");
  command.option("--cache", words->cache, "The folder of what is found, instead of the usual one");
  command.flag("--json", words->json, "Print what was found as one JSON object");
  command.callback([=, &outcome] {
    outcome.status = tune_file(*words);
  });
}

#else

void add_tune(Command app, Outcome&) {
  Command command = app.command("tune", "Search for a faster schedule of a program (not in this build)");
  command.allow_extras();
  command.callback([] { throw Unsupported("tune: not in this build; configure with -DETALON_COMPILED=ON"); });
}

#endif

}  // namespace etalon::command
