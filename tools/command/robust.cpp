#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "spec/error.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "spec/file.hpp"
#include "spec/program/extents.hpp"
#include "tools/command/program_file.hpp"
#include "tools/robust/certify.hpp"
#include "training/files/safetensors.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* robust_help = R"(
A row is certified for an epsilon where its label's answer is the largest for every input whose numbers are each within epsilon
of the row's, in every float evaluation that the contract admits: any order of sums, FMA or not, functions within their ulps.
The margin is how far the label's answer stays above all others. A row that is not certified may still be robust.
  ibp    intervals through the equations
  sweep  mean values: derivatives over the box, swept back from each answer
  crown  two lines for each function of one argument, put into each other from the answer back
  best   all of them at once
Without a run, --program names a program whose one input without a value holds rows, and whose first output answers them.

Examples
  etalon train digits --run r && etalon certify-robust r --epsilon 1/128
  etalon certify-robust r --epsilon 1/128,1/64,1/32 --method ibp,sweep,crown --json robust.json
  etalon certify-robust r --epsilon 0.01 --rows 0:20 --each --least 0 --most 1
  etalon certify-robust --program net.txt --values net.safetensors --data rows.csv --target label --epsilon 0.1
Exit status: 0 done, whatever was certified, 1 fewer rows than --require are certified, 2 usage or set-up error.)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

namespace {

struct RobustWords {
  std::string run, program, values, data, labels, rows, json, contract = "cpu";
  std::vector<std::string> radii, methods;
  training::DataChoice choice;
  double least = 0, most = 0, require = 0;
  bool best = false, each = false, no_header = false;
  bool has_least = false, has_most = false;
};

/// `A:B`, either of which may be missing.
void take_rows(const std::string& text, std::int64_t count, robust::Question& question) {
  question.end = count;
  if (text.empty()) return;
  const auto bad = [&] {
    return SpecViolation(fmt::format("--rows: expected FIRST:END with 0 <= FIRST < END <= {}, found '{}'", count, text));
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw bad();
  const auto read = [&](const std::string& part, std::int64_t& into) {
    if (part.empty()) return;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), into);
    if (error != std::errc() || end != part.data() + part.size()) throw bad();
  };
  read(text.substr(0, colon), question.first);
  read(text.substr(colon + 1), question.end);
  if (question.first < 0 || question.first >= question.end || question.end > count) throw bad();
}

robust::Classifier model_of(const RobustWords& words) {
  if (words.program.empty()) return robust::classifier_of_run(words.run, words.best, words.data);
  if (words.data.empty()) throw SpecViolation("--data is required with --program");
  std::vector<std::filesystem::path> files{words.data};
  if (!words.labels.empty()) files.emplace_back(words.labels);
  training::DataChoice choice = words.choice;
  choice.header = !words.no_header;
  training::Examples examples = training::read_examples(files, choice);
  training::Named values;
  if (!words.values.empty()) {
    const std::string bytes = read_file(words.values);
    values = training::read_safetensors(std::as_bytes(std::span(bytes)), words.values);
  }
  spec::Program program = with_extents(program_in_file(words.program));
  verify(program);
  return robust::classifier_of_program(program, words.program, values, std::move(examples.data));
}

robust::Question question_of(const RobustWords& words, const robust::Classifier& model) {
  robust::Question question;
  for (const std::string& text : words.radii) question.radii.push_back(robust::radius_of(text));
  for (const robust::Method& m : robust::methods()) {
    if (std::find(words.methods.begin(), words.methods.end(), m.name) != words.methods.end()) question.methods.push_back(m);
  }
  if (words.has_least) question.least = words.least;
  if (words.has_most) question.most = words.most;
  take_rows(words.rows, model.rows.rows(), question);
  return question;
}

/// The least share of rows that some method certifies, over the radii.
bool enough(const std::vector<robust::Certified>& rows, const robust::Question& question, double required) {
  const std::size_t methods = question.methods.size();
  for (std::size_t e = 0; e < question.radii.size(); ++e) {
    double certified = 0;
    for (const robust::Certified& r : rows) {
      bool any = false;
      for (std::size_t m = 0; m < methods; ++m) any = any || r.margins[e * methods + m] > 0;
      if (any) ++certified;
    }
    if (!(certified >= required * static_cast<double>(rows.size()))) return false;
  }
  return true;
}

int certify_robust(const RobustWords& words) {
  if (words.run.empty() == words.program.empty()) throw SpecViolation("expected the folder of a run, or --program FILE, and not both");
  if (!words.json.empty()) check_writable(words.json);
  const spec::Contract contract = contract_of(words.contract);
  const robust::Classifier model = model_of(words);
  const robust::Question question = question_of(words, model);
  const bool shows = isatty(STDERR_FILENO) != 0;
  std::int64_t done = 0;
  const std::vector<robust::Certified> rows = robust::certify(model, question, contract, [&](const robust::Certified&) {
    if (shows) std::cerr << fmt::format("\r{} of {} rows", ++done, question.end - question.first) << std::flush;
  });
  if (shows) std::cerr << '\n';
  std::cout << robust::to_text(rows, model, question, contract, words.each);
  if (!words.json.empty()) write_file(words.json, robust::to_json(rows, model, question, contract) + "\n");
  return enough(rows, question, words.require) ? 0 : 1;
}

}  // namespace

void add_certify_robust(Command app, Outcome& outcome) {
  Command command = app.command("certify-robust", "Bound what a classifier answers to all inputs near each row");
  command.footer(robust_help);
  auto words = std::make_shared<RobustWords>();
  words->radii = {"1/128"};
  words->methods = {"ibp", "sweep", "crown"};
  command.option("run", words->run, "The folder of a run of etalon train");
  command.option("--epsilon", words->radii, "How far each number may be off, as 1/128 or 0.01; several with commas")
      .separated_by(',')
      .with_default();
  command.option("--method", words->methods, "ibp, sweep, crown or best; several with commas")
      .separated_by(',')
      .one_of({"ibp", "sweep", "crown", "best"})
      .with_default();
  command.option("--rows", words->rows, "FIRST:END of the rows held back, counted from 0; without it all");
  command.flag("--best", words->best, "Of a run: after the epoch with the lowest validation loss, not the newest checkpoint");
  const Option least = command.option("--least", words->least, "No number of a row is below this, whatever epsilon says");
  const Option most = command.option("--most", words->most, "No number of a row is above this");
  command.option("--contract", words->contract, "What evaluations promise: a shipped contract by name, or a JSON file").with_default();
  command.option("--program", words->program, "A program, as text or JSON, instead of a run");
  command.option("--values", words->values, "Of --program: a file of safetensors with the values of its other inputs");
  command.option("--data", words->data, "The rows, or where the data of the run is now");
  command.option("--labels", words->labels, "Of --program: the labels of an npy or idx file, in a file of their own");
  command.option("--target", words->choice.target, "Of --program: column or tensor of the labels").one_word();
  command.option("--classes", words->choice.classes, "Of --program: labels are whole numbers from 0 to one less; 0 takes what stands there")
      .between(0, 65536)
      .with_default();
  command.flag("--no-header", words->no_header, "Of --program: the columns of a csv file have no names: 1, 2, …");
  command.flag("--each", words->each, "Print the margins of each row");
  command.option("--json", words->json, "Write what was found to this file");
  command.option("--require", words->require, "Share of rows that must be certified, for each epsilon by some method").between(0.0, 1.0);
  command.callback([=, &outcome] {
    words->has_least = least.given();
    words->has_most = most.given();
    outcome.status = certify_robust(*words);
  });
}

#else

void add_certify_robust(Command app, Outcome&) {
  Command command = app.command("certify-robust", "Bound what a classifier answers to all inputs near each row (not in this build)");
  command.footer(robust_help);
  command.allow_extras();
  command.callback([] { throw Unsupported("certify-robust: not in this build"); });
}

#endif

}  // namespace etalon::command
