#include "tools/power/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "conformance/case_file.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/score.hpp"

namespace etalon::power {
namespace {

using Clock = std::chrono::steady_clock;
using mutants::Finding;
using mutants::Mutant;
using mutants::numbers_given;

struct Line {
  const Mutant* mutant = nullptr;
  Finding finding;
  double seconds = 0;
};

conformance::ConformOptions conform_options(const ScoreOptions& options) {
  conformance::ConformOptions c;
  c.tier = options.tier == "full" ? conformance::Tier::full : conformance::Tier::quick;
  c.seed = options.seed;
  return c;
}

Line asked(const Mutant& mutant, const ScoreOptions& options) {
  const auto start = Clock::now();
  Line line{&mutant, {}, 0};
  conformance::ConformOptions c = conform_options(options);
  c.operations = mutants::known_operations(mutant.operations);
  line.finding = convict(mutant, c);
  if (!line.finding.first && options.all) {
    c.operations.clear();
    line.finding = convict(mutant, c);
  }
  if (options.attempts > 0) shrink(mutant, line.finding, options.attempts);
  line.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return line;
}

std::string text_of(const Line& line) {
  const Finding& f = line.finding;
  if (!f.first) {
    return fmt::format("SURVIVES {} ({} cases asked, {} untouched){}", line.mutant->name, f.asked, f.skipped,
                       f.crashes.empty() ? "" : " CRASH " + f.crashes.front());
  }
  const std::string small = f.smallest ? fmt::format(", {} numbers", numbers_given(*f.smallest)) : "";
  return fmt::format("{:32} {} after {} cases, {:.1f} s{}{}", line.mutant->name, conformance::id_of(f.first->made.key),
                     f.asked, line.seconds, small, f.crashes.empty() ? "" : " CRASH " + f.crashes.front());
}

nlohmann::json json_of(const Line& line) {
  nlohmann::json json{{"mutant", line.mutant->name}, {"asked", line.finding.asked}, {"seconds", line.seconds}};
  json["case"] =
      line.finding.first ? nlohmann::json(conformance::id_of(line.finding.first->made.key)) : nlohmann::json();
  if (line.finding.smallest) {
    json["numbers"] = numbers_given(*line.finding.smallest);
    json["smallest"] = nlohmann::json::parse(conformance::to_json(*line.finding.smallest));
  }
  return json;
}

std::vector<const Mutant*> chosen(const ScoreOptions& options) {
  std::vector<const Mutant*> list;
  for (const Mutant& m : mutants::mutants()) {
    const bool wanted =
        options.names.empty() || std::find(options.names.begin(), options.names.end(), m.name) != options.names.end();
    if (wanted) list.push_back(&m);
  }
  return list;
}

}  // namespace

int run_score(const ScoreOptions& options) {
  const std::vector<const Mutant*> list = chosen(options);
  std::vector<Line> lines(list.size());
  std::atomic<std::size_t> next = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next++; i < list.size(); i = next++) {
      lines[i] = asked(*list[i], options);
      const std::lock_guard lock(printing);
      fmt::print("{}\n", text_of(lines[i]));
      std::fflush(stdout);
    }
  };
  {
    std::jthread other(work);
    work();
  }
  std::vector<std::size_t> sizes;
  std::size_t convicted = 0;
  nlohmann::json all = nlohmann::json::array();
  for (const Line& line : lines) {
    convicted += line.finding.first ? 1 : 0;
    if (line.finding.smallest) sizes.push_back(numbers_given(*line.finding.smallest));
    all.push_back(json_of(line));
  }
  std::sort(sizes.begin(), sizes.end());
  fmt::print("{} of {} mutants convicted", convicted, lines.size());
  if (!sizes.empty()) fmt::print(", median counterexample {} numbers", sizes[sizes.size() / 2]);
  fmt::print("\n");
  if (!options.json.empty()) std::ofstream(options.json) << all.dump(1) << '\n';
  return convicted == lines.size() ? 0 : 1;
}

}  // namespace etalon::power
