#include "conformance/conform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <set>
#include <sstream>
#include <thread>

#include "conformance/case_file.hpp"
#include "conformance/cases.hpp"
#include "conformance/check.hpp"
#include "conformance/coverage.hpp"
#include "conformance/plan.hpp"
#include "conformance/report.hpp"
#include "conformance/shapes.hpp"
#include "conformance/shrink.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One caller at a time.
class Shared final : public Asked {
 public:
  explicit Shared(spec::Backend& backend) : backend_(backend) {}
  spec::Answer run(const spec::Request& request) override {
    const std::lock_guard lock(mutex_);
    return backend_.run(request);
  }

 private:
  spec::Backend& backend_;
  std::mutex mutex_;
};

struct Progress {
  std::atomic<std::size_t> units = 0, cases = 0, comparisons = 0, fails = 0;
};

bool is_bad(Verdict v) { return v == Verdict::fail || v == Verdict::crashed || v == Verdict::timeout; }

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

class Run {
 public:
  Run(const ConformOptions& options, spec::Backend& backend, std::ostream& console)
      : options_(options),
        shared_(backend),
        console_(console),
        description_(backend.describe()),
        contract_(options.contract.value_or(description_.contract)) {}

  int all() {
    const auto start = Clock::now();
    units_ = plan(options_);
    if (options_.list) return list();
    Header header = header_of();
    console_ << fmt::format("backend: {} {}\ncontract: {}\ntier {}, seed {}, specification {}\n", description_.name,
                            description_.version, header.contract_text, header.tier, header.seed,
                            options_.library.hash().substr(0, 8));
    ask();
    std::vector<Record> records = collect();
    explain_failures(records);
    const double seconds = seconds_since(start);
    if (options_.json_path) {
      std::ofstream out(*options_.json_path);
      write_json(out, header, records, seconds);
      if (!out.flush()) throw IoError(fmt::format("conform: cannot write {}", *options_.json_path));
    }
    write_table(console_, header, records, seconds);
    report_coverage(records);
    return exit_code(records);
  }

  void report_coverage(const std::vector<Record>& records) {
    if (!options_.coverage_path) return;
    std::ofstream out(*options_.coverage_path);
    const Coverage coverage = cover(records, &out);
    if (!out.flush()) throw IoError(fmt::format("conform: cannot write {}", *options_.coverage_path));
    console_ << fmt::format("{} cells of operation, mode, element type and class: {} met, {} cannot be, {} missed\n",
                            coverage.cells, coverage.cells - coverage.explained - coverage.unexplained,
                            coverage.explained, coverage.unexplained);
  }

  int replay(const Case& c) {
    const Outcome outcome = check(c, shared_, contract_);
    if (!is_bad(outcome.verdict)) {
      console_ << fmt::format("{}: {}, {} comparisons, worst error over bound {:.3g}\n", id_of(c.key),
                              name_of(outcome.verdict), outcome.comparisons, outcome.worst_ratio);
      return outcome.comparisons > 0 ? 0 : 1;
    }
    const Shrunk shrunk = shrink(c, outcome, shared_, contract_, options_.shrink_attempts);
    write_counterexample(console_, backend_words(), *options_.replay, shrunk.smallest, shrunk.outcome);
    save(id_of(c.key), shrunk.smallest);
    return 1;
  }

 private:
  int list() {
    for (const Unit& u : units_) {
      console_ << fmt::format("{}.{}.{} {}\n", u.operation, name_of(u.check), name_of(u.dtype), u.least_cases);
    }
    return units_.empty() ? 2 : 0;
  }

  Header header_of() const {
    Header header;
    header.backend = description_.name;
    header.contract_json = spec::to_json(contract_);
    header.contract_text = contract_text(contract_);
    header.tier = options_.tier == Tier::quick ? "quick" : (options_.tier == Tier::full ? "full" : "soak");
    header.seed = options_.seed;
    header.operations_known = options_.library.definitions().size();
    header.specification = options_.library.hash();
    return header;
  }

  void ask() {
    found_.resize(units_.size());
    std::vector<std::unique_ptr<spec::Backend>> more;
    std::vector<std::unique_ptr<Shared>> asked_by;
    std::vector<std::jthread> workers;
    for (unsigned j = 0; j < std::max(1u, options_.jobs); ++j) {
      Shared* backend = &shared_;
      if (j > 0 && options_.another) {
        more.push_back(options_.another());
        backend = asked_by.emplace_back(std::make_unique<Shared>(*more.back())).get();
      }
      workers.emplace_back([this, backend] { work(*backend); });
    }
    while (options_.terminal && progress_.units < units_.size()) {
      show_progress();
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    workers.clear();
    if (options_.terminal) console_ << "\r\033[K";
  }

  // A worker takes all units of one operation and element type: their kernels lie in its backend's cache.
  void work(Asked& backend) {
    while (true) {
      std::size_t begin = 0, end = 0;
      {
        const std::lock_guard lock(mutex_);
        begin = end = next_;
        while (end < units_.size() && units_[end].operation == units_[begin].operation &&
               units_[end].dtype == units_[begin].dtype) {
          ++end;
        }
        next_ = end;
      }
      if (begin == end) return;
      for (std::size_t u = begin; u < end; ++u) {
        found_[u] = asked(units_[u], backend);
        ++progress_.units;
      }
    }
  }

  void show_progress() {
    console_ << fmt::format("\r\033[K{}/{} units, {} cases, {} comparisons, {} failures", progress_.units.load(),
                            units_.size(), progress_.cases.load(), progress_.comparisons.load(), progress_.fails.load())
             << std::flush;
  }

  std::vector<Record> asked(const Unit& unit, Asked& backend) {
    std::vector<Record> records;
    Cases cases(unit, options_);
    while (const auto next = cases.next()) {
      Record record;
      record.id = id_of(next->key);
      record.key = next->key;
      if (next->made) {
        judge(record, *next->made, backend);
      } else {
        record.outcome.verdict = Verdict::crashed;
        record.outcome.why = next->problem;
      }
      ++progress_.cases;
      progress_.comparisons += record.outcome.comparisons;
      if (is_bad(record.outcome.verdict)) ++progress_.fails;
      records.push_back(std::move(record));
    }
    return records;
  }

  void judge(Record& record, const Case& c, Asked& backend) {
    record.mode = c.mode;
    record.classes = c.classes;
    record.outcome = promised(c) ? check(c, backend, contract_) : Outcome{};
    if (!promised(c)) {
      record.outcome.verdict = Verdict::unsupported;
      record.outcome.why = "the backend does not say that it rejects ill-typed calls";
    }
    record.case_json = summary_json(c);
  }

  // A backend that promotes and broadcasts where the definitions do not says so, and is not asked to reject.
  bool promised(const Case& c) const { return c.key.check != Check::rejection || description_.rejects; }

  std::vector<Record> collect() {
    std::vector<Record> records;
    for (auto& unit : found_) {
      for (Record& r : unit) records.push_back(std::move(r));
    }
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.id < b.id; });
    return records;
  }

  // Of each operation and check the failing case with the fewest elements is made small: it has the shortest way to go.
  // Limits keep a broken backend from taking forever.
  void explain_failures(std::vector<Record>& records) {
    const std::set<std::size_t> chosen = cases_to_explain(records);
    for (std::size_t i = 0; i < records.size(); ++i) {
      Record& r = records[i];
      if (!is_bad(r.outcome.verdict) || r.case_json.empty()) continue;
      const auto c = make_case(r.key);
      if (!c) continue;
      if (chosen.count(i) == 0) {
        r.case_json = to_json(*c);
        continue;
      }
      const Shrunk shrunk = shrink(*c, r.outcome, shared_, contract_, options_.shrink_attempts);
      r.case_json = to_json(shrunk.smallest);
      write_counterexample(console_, backend_words(), r.id, shrunk.smallest, shrunk.outcome);
      save(r.id, shrunk.smallest);
    }
  }

  /// What a replay says after `--backend`.
  std::string backend_words() const {
    return options_.backend_name + (options_.definitions_file.empty() ? "" : " --definitions " + options_.definitions_file);
  }

  std::set<std::size_t> cases_to_explain(const std::vector<Record>& records) const {
    constexpr int most_weighed = 32;
    struct Choice {
      std::size_t elements = 0;
      std::size_t record = 0;
      int weighed = 0;
    };
    std::map<std::string, Choice> choices;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Record& r = records[i];
      if (!is_bad(r.outcome.verdict) || r.case_json.empty()) continue;
      const std::string kind = fmt::format("{}.{}", r.key.operation, name_of(r.key.check));
      if (choices.size() >= options_.most_explained && choices.count(kind) == 0) continue;
      Choice& choice = choices[kind];
      if (choice.weighed == most_weighed) continue;
      const auto c = make_case(r.key);
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

  static std::size_t operand_elements(const Case& c) {
    std::size_t n = 0;
    for (const auto& operand : c.operands) n += operand ? static_cast<std::size_t>(operand->dims.count()) : 0;
    return n;
  }

  void save(const std::string& id, const Case& c) {
    if (!options_.case_folder) return;
    std::filesystem::create_directories(*options_.case_folder);
    const auto path = std::filesystem::path(*options_.case_folder) / (id + ".json");
    std::ofstream(path) << to_json(c) << '\n';
    console_ << fmt::format("  case file: {}\n", path.string());
  }

  int exit_code(const std::vector<Record>& records) {
    Totals totals;
    bool answered = false;
    for (const Record& r : records) {
      totals.add(r);
      // To refuse what is ill-typed says nothing of what is computed.
      answered |= r.outcome.comparisons > 0 && r.key.check != Check::rejection;
    }
    if (!answered) {
      console_ << "nothing was compared: does not conform\n";
      return 1;
    }
    const bool bad = totals.of(Verdict::fail) + totals.of(Verdict::crashed) + totals.of(Verdict::timeout) > 0;
    console_ << (bad ? "does not conform\n" : "conforms\n");
    return bad ? 1 : 0;
  }

  const ConformOptions& options_;
  Shared shared_;
  std::ostream& console_;
  spec::Description description_;
  spec::Contract contract_;
  std::vector<Unit> units_;
  std::vector<std::vector<Record>> found_;
  std::mutex mutex_;  ///< of next_
  std::size_t next_ = 0;
  Progress progress_;
};

Case replayed(const std::string& what, const spec::Library& library) {
  if (!std::filesystem::exists(what)) {
    const CaseKey key = parse_id(what, library);
    (void)library.named(key.operation);
    auto c = make_case(key);
    if (!c) throw SpecViolation(fmt::format("replay: there is no case {}", what));
    return std::move(*c);
  }
  std::ifstream in(what);
  std::stringstream text;
  text << in.rdbuf();
  return case_from_json(text.str(), library);
}

}  // namespace

int run_conform(const ConformOptions& options, spec::Backend& backend, std::ostream& console) {
  try {
    for (const std::string& name : options.operations) (void)options.library.named(name);
    Run run(options, backend, console);
    return options.replay ? run.replay(replayed(*options.replay, options.library)) : run.all();
  } catch (const SpecViolation& e) {
    console << e.what() << '\n';
  } catch (const IoError& e) {
    console << e.what() << '\n';
  }
  return 2;
}

}  // namespace etalon::conformance
