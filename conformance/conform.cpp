#include "conformance/conform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <sstream>
#include <string_view>

#include "conformance/asking.hpp"
#include "conformance/case_file.hpp"
#include "conformance/cases.hpp"
#include "conformance/check.hpp"
#include "conformance/coverage.hpp"
#include "conformance/explaining.hpp"
#include "conformance/offered_parts.hpp"
#include "conformance/plan.hpp"
#include "conformance/reports/console.hpp"
#include "conformance/reports/journal.hpp"
#include "conformance/reports/matrix.hpp"
#include "conformance/shapes.hpp"
#include "conformance/showing.hpp"
#include "conformance/shrink.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/library/library.hpp"
#include "spec/markup.hpp"

namespace etalon::conformance {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The promises in one line; a looser contract must be visible at once.
std::string contract_text(const spec::Contract& c) {
  std::string text = fmt::format("{}: rounding to nearest; functions within {} ulp", c.name, c.default_function.k0);
  for (const auto& [dtype, functions] : c.functions) {
    double most = 0;
    for (const auto& [function, bound] : functions) most = std::max(most, bound.k0);
    if (!functions.empty()) text += fmt::format(" ({}: at most {})", name_of(dtype), most);
  }
  text += c.sums.promises() || c.contractions.promises() ? "; sums in declared trees" : "; sums in any order";
  text += c.flush_results || c.flush_operands ? "; subnormals may be flushed" : "; gradual underflow";
  if (c.reciprocal_division) text += "; a/b as a*(1/b)";
  if (c.product_operand_precision > 0)
    text += fmt::format("; operands of products have {} bits", c.product_operand_precision);
  if (c.accumulation != spec::RoundingMode::nearest) text += "; sums are cut off";
  for (const auto& [dtype, half] : c.halves) {
    if (half.own_temporaries || half.own_accumulators) text += fmt::format("; {} is computed with in {}", name_of(dtype), name_of(dtype));
  }
  if (c.nan_of_extrema != spec::NanPolicy::free) {
    text += c.nan_of_extrema == spec::NanPolicy::propagate ? "; extrema pass NaN on" : "; extrema ignore NaN";
  }
  constexpr std::array ties{"first", "last", "even"};
  return text + fmt::format("; ties go to the {}", ties[static_cast<std::size_t>(c.ties)]);
}


template <class Name>
std::vector<std::string> names_of(const std::vector<Name>& all) {
  std::vector<std::string> names;
  for (const Name& one : all) names.emplace_back(name_of(one));
  return names;
}

Header header_of(const ConformOptions& options, const spec::Description& description, const spec::Contract& contract) {
  Header header;
  header.backend = description.name;
  header.version = description.version;
  header.command = backend_words(options);
  header.replay = options.replay_line;
  header.contract_json = spec::to_json(contract);
  header.contract_text = contract_text(contract);
  header.tier = name_of(options.tier);
  header.seed = options.seed;
  header.operations_known = options.library.definitions().size();
  header.specification = options.library.hash();
  header.selection = {options.operations, names_of(options.modes), names_of(options.dtypes), "", names_of(options.checks)};
  if (options.profile) header.selection.profile = name_of(*options.profile);
  header.offered = Offered{description.operations, names_of(description.dtypes), names_of(description.modes)};
  if (options.shard.count > 1) header.selection.shard = fmt::format("{}/{}", options.shard.index, options.shard.count);
  return header;
}

// Of each operation that has a failure.
std::vector<Equations> equations_of(const std::vector<Record>& records, const spec::Library& library) {
  std::map<std::string, Equations> found;
  for (const Record& r : records) {
    const spec::Definition* d = library.find(r.operation);
    if (d == nullptr || (!is_bad(r.outcome.verdict) && !r.waived)) continue;
    Equations& e = found[r.operation];
    if (!e.operation.empty()) continue;
    e = {r.operation, std::string(d->text), {}};
    for (std::size_t i = 0; i < d->operand_count; ++i) e.operands.emplace_back(d->at(d->operands[i].name));
  }
  std::vector<Equations> all;
  for (auto& [name, e] : found) all.push_back(std::move(e));
  return all;
}

class Run {
 public:
  Run(const ConformOptions& options, spec::Backend& backend, std::ostream& console)
      : options_(options), shared_(backend), console_(console) {
    const spec::Description description = backend.describe();
    held_ = {options.contract.value_or(description.contract), description};
    report_.header = header_of(options, description, held_.contract);
  }

  /// \returns nothing after a dry run, of which `status` says how it ended
  std::optional<Report> all(int& status) {
    const auto start = Clock::now();
    const std::vector<Unit> wanted = plan(options_);
    const std::vector<Unit> units = offered(wanted, held_.description);
    std::map<std::string, Record> known;
    if (options_.resume) known = earlier_results(*options_.resume, report_.header);
    write_heading(console_, report_.header);
    write_not_asked(wanted, units);
    if (options_.dry_run) {
      status = dry_run(units, known);
      return std::nullopt;
    }
    Journal journal(options_.json_path, report_.header, ordered(known));
    report_.records = ask_all(options_, units, held_, shared_, known, journal);
    apply_waivers(report_, options_.waivers, options_);
    explain_failures(report_.records, options_, held_, shared_, console_);
    report_.equations = equations_of(report_.records, options_.library);
    report_.seconds = seconds_since(start);
    journal.finish(report_);
    write_formats(options_.formats, report_);
    write_table(console_, report_, options_.width);
    report_coverage();
    status = conclusion(report_).conforms ? 0 : 1;
    return std::move(report_);
  }

  int replay(const Case& whole) {
    const Case c = offered_parts(whole, held_.description).value_or(whole);
    const Outcome outcome = check(c, shared_, held_.contract);
    if (!is_bad(outcome.verdict)) {
      console_ << fmt::format("{}: {}, {} comparisons, worst error over bound {:.3g}\n", id_of(c.key),
                              name_of(outcome.verdict), outcome.comparisons, outcome.worst_ratio);
      return outcome.comparisons > 0 ? 0 : 1;
    }
    const Shrunk shrunk =
        taught(shrink(c, outcome, shared_, held_.contract, {options_.shrink_attempts, options_.shrink_seconds}), shared_, held_.contract);
    write_counterexample(console_, replay_of(options_, *options_.replay), *options_.replay, shrunk.smallest, shrunk.outcome);
    (void)tell_more(shrunk, shared_, console_);
    save_case(options_, id_of(c.key), shrunk.smallest, console_);
    return 1;
  }

 private:
  static std::vector<Record> ordered(const std::map<std::string, Record>& known) {
    std::vector<Record> records;
    for (const auto& [id, record] : known) records.push_back(record);
    return records;
  }

  // What is asked of no operation, and what would be offered if the specification had it.
  void write_not_asked(const std::vector<Unit>& wanted, const std::vector<Unit>& units) {
    std::set<std::string_view> missing;
    for (const Unit& unit : wanted) missing.insert(name_of(unit.check));
    for (const Unit& unit : units) missing.erase(name_of(unit.check));
    if (!missing.empty()) console_ << fmt::format("not offered, not asked: {}\n", fmt::join(missing, ", "));
    std::vector<std::string> unknown;
    for (const std::string& name : held_.description.operations.value_or(std::vector<std::string>{})) {
      if (options_.library.find(name) == nullptr) unknown.push_back(well_formed(name));
    }
    if (!unknown.empty()) console_ << fmt::format("offered, not of this specification: {}\n", fmt::join(unknown, ", "));
  }

  int dry_run(const std::vector<Unit>& units, const std::map<std::string, Record>& known) {
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    std::size_t cases = 0, there = 0;
    for (const Unit& unit : units) {
      Cases all(unit, options_, &held_.description);
      while (const auto next = all.next()) {
        ++cases;
        there += known.count(id_of(next->key));
        ++counts[unit.operation][std::string(name_of(unit.check))];
      }
    }
    for (const auto& [operation, checks] : counts) {
      console_ << fmt::format("{:<20}", operation);
      for (const auto& [name, count] : checks) console_ << fmt::format(" {} {}", name, count);
      console_ << "\n";
    }
    console_ << fmt::format("{} operations, {} cases and one more for each that is refused, {} of them answered already; nothing was asked\n", counts.size(), cases,
                            there);
    return cases == 0 && options_.shard.count == 1 ? 2 : 0;
  }

  void report_coverage() {
    if (!options_.coverage_path) return;
    std::ostringstream cells;
    const Coverage coverage = cover(report_.records, options_.library, &cells);
    write_file(*options_.coverage_path, cells.str());
    console_ << fmt::format("{} cells of operation, mode, element type and class: {} met, {} cannot be, {} missed\n",
                            coverage.cells, coverage.cells - coverage.explained - coverage.unexplained,
                            coverage.explained, coverage.unexplained);
  }

  const ConformOptions& options_;
  Shared shared_;
  std::ostream& console_;
  Held held_;
  Report report_;
};

Case replayed(const std::string& what, const spec::Library& library) {
  if (!std::filesystem::exists(what)) {
    const CaseKey key = parse_id(what, library);
    (void)library.named(key.operation);
    auto c = make_case(key);
    if (!c) throw SpecViolation(fmt::format("replay: there is no case {}", what));
    return std::move(*c);
  }
  try {
    return case_from_json(read_file(what), library);
  } catch (const SpecViolation& error) {
    throw SpecViolation(what + ": " + error.what());
  }
}

}  // namespace

int run_conform(const ConformOptions& options, spec::Backend& backend, std::ostream& console) {
  std::ostream& errors = options.errors != nullptr ? *options.errors : console;
  try {
    for (const std::string& name : options.operations) (void)options.library.named(name);
    Run run(options, backend, console);
    if (options.replay) return run.replay(replayed(*options.replay, options.library));
    int status = 0;
    (void)run.all(status);
    return status;
  } catch (const SpecViolation& e) {
    errors << e.what() << '\n';
  } catch (const IoError& e) {
    errors << e.what() << '\n';
  }
  return 2;
}

Report report_of(const ConformOptions& options, spec::Backend& backend, std::ostream& console) {
  for (const std::string& name : options.operations) (void)options.library.named(name);
  int status = 0;
  std::optional<Report> report = Run(options, backend, console).all(status);
  if (!report) throw SpecViolation("a dry run has no report");
  return std::move(*report);
}

int list_cases(const ConformOptions& options, std::ostream& console) {
  std::size_t cases = 0;
  for (const Unit& unit : plan(options)) {
    Cases all(unit, options);
    while (const auto next = all.next()) {
      console << id_of(next->key) << '\n';
      ++cases;
    }
  }
  return cases == 0 && options.shard.count == 1 ? 2 : 0;
}

int show_case(const ConformOptions& options, const std::string& what, std::ostream& console) {
  show(console, replayed(what, options.library), options.contract.value_or(spec::Contract()));
  return 0;
}

}  // namespace etalon::conformance
