#include "conformance/explaining.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "conformance/case_file.hpp"
#include "conformance/lesson.hpp"
#include "conformance/reports/console.hpp"
#include "conformance/script.hpp"
#include "conformance/shell_word.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

std::size_t operand_elements(const Case& c) {
  std::size_t n = 0;
  for (const auto& operand : c.operands) n += operand ? static_cast<std::size_t>(operand->dims.count()) : 0;
  return n;
}

std::optional<Case> case_of(const Record& r, const ConformOptions& options) {
  if (r.case_json.empty()) return std::nullopt;
  return make_case(parse_id(r.id, options.library));
}

// It has the shortest way to go.
std::set<std::size_t> cases_to_explain(const std::vector<Record>& records, const ConformOptions& options) {
  constexpr int most_weighed = 32;
  struct Choice {
    std::size_t elements = 0;
    std::size_t record = 0;
    int weighed = 0;
  };
  std::map<std::string, Choice> choices;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    if (!is_bad(r.outcome.verdict)) continue;
    const std::string kind = r.operation + "." + r.check;
    if (choices.size() >= options.most_explained && choices.count(kind) == 0) continue;
    Choice& choice = choices[kind];
    if (choice.weighed == most_weighed) continue;
    const auto c = case_of(r, options);
    if (!c) continue;
    const std::size_t elements = operand_elements(*c);
    if (choice.weighed++ == 0 || elements < choice.elements) {
      choice.elements = elements;
      choice.record = i;
    }
  }
  std::set<std::size_t> chosen;
  for (const auto& [kind, choice] : choices) {
    if (choice.weighed > 0) chosen.insert(choice.record);
  }
  return chosen;
}

}  // namespace

std::string backend_words(const ConformOptions& options) {
  return shell_word(options.backend_name) +
         (options.definitions_file.empty() ? "" : " --definitions " + shell_word(options.definitions_file));
}

std::string replay_of(const ConformOptions& options, const std::string& id) {
  return replay_line(options.replay_line, backend_words(options), id);
}

void save_case(const ConformOptions& options, const std::string& id, const Case& c, std::ostream& console) {
  if (!options.case_folder) return;
  make_folder(*options.case_folder);
  const auto path = std::filesystem::path(*options.case_folder) / (id + ".json");
  write_file(path, to_json(c) + "\n");
  console << fmt::format("  case file: {}\n", path.string());
}

Shrunk taught(Shrunk shrunk, Asked& backend, const spec::Contract& contract) {
  const Lesson lesson = lesson_of(shrunk.smallest, shrunk.outcome, backend, contract);
  if (shrunk.outcome.offender) shrunk.outcome.offender->exact = lesson.exact;
  shrunk.outcome.cause = lesson.cause;
  return shrunk;
}

std::string tell_more(const Shrunk& shrunk, Asked& backend, std::ostream& console) {
  if (shrunk.cut_short)
    console << fmt::format("  there may be a smaller one: shrinking ended after {} cases; --shrink-seconds gives it longer\n", shrunk.attempts);
  const std::string script = script_of(shrunk.smallest, shrunk.outcome, backend).value_or("");
  std::istringstream lines(script);
  if (!script.empty()) console << "  script, without Etalon:\n";
  for (std::string line; std::getline(lines, line);) console << "    " << line << '\n';
  return script;
}

void explain_failures(std::vector<Record>& records, const ConformOptions& options, const Held& held, Asked& backend,
                      std::ostream& console) {
  const std::set<std::size_t> chosen = cases_to_explain(records, options);
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& r = records[i];
    if (!is_bad(r.outcome.verdict) && !r.waived) continue;
    const auto c = case_of(r, options);
    if (!c) continue;
    if (chosen.count(i) == 0) {
      r.case_json = to_json(*c);
      continue;
    }
    const Shrunk shrunk = taught(shrink(*c, r.outcome, backend, held.contract, {options.shrink_attempts, options.shrink_seconds}), backend, held.contract);
    r.case_json = to_json(shrunk.smallest);
    r.outcome.why = well_formed(shrunk.outcome.why);
    r.outcome.offender = shrunk.outcome.offender;
    r.outcome.cause = well_formed(shrunk.outcome.cause);
    write_counterexample(console, replay_of(options, r.id), r.id, shrunk.smallest, shrunk.outcome);
    r.reproduction = tell_more(shrunk, backend, console);
    save_case(options, r.id, shrunk.smallest, console);
  }
}

}  // namespace etalon::conformance
