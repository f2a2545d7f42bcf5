#include "conformance/asking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <ostream>
#include <thread>
#include <utility>

#include "conformance/case_file.hpp"
#include "conformance/cases.hpp"
#include "conformance/reports/escape.hpp"

namespace etalon::conformance {
namespace {

struct Counts {
  std::atomic<std::size_t> units = 0, cases = 0, comparisons = 0, fails = 0, unsupported = 0;
};

// What does not fit the line is left out from the right: a line that is broken cannot be taken back.
std::string progress_line(const Counts& counts, std::size_t units, std::size_t columns) {
  constexpr std::size_t width = 24;
  const std::size_t done = counts.units.load();
  const std::size_t filled = units == 0 ? width : done * width / units;
  const std::array parts{fmt::format("[{}{}]", std::string(filled, '#'), std::string(width - filled, '.')),
                         fmt::format(" {}/{} units", done, units),
                         fmt::format(", {} failures", counts.fails.load()),
                         fmt::format(", {} cases", counts.cases.load()),
                         fmt::format(", {} comparisons", counts.comparisons.load()),
                         fmt::format(", {} unsupported", counts.unsupported.load())};
  std::string line;
  for (const std::string& part : parts) {
    if (line.size() + part.size() >= columns) break;
    line += part;
  }
  return line;
}

/// Units of one operation and element type: [next, end) are left.
struct Group {
  std::size_t next = 0, end = 0;
  [[nodiscard]] std::size_t left() const { return end - next; }
};

class Asking {
 public:
  Asking(const ConformOptions& options, const std::vector<Unit>& units, const Held& held,
         const std::map<std::string, Record>& known, Journal& journal)
      : options_(options), units_(units), held_(held), known_(known), journal_(journal), found_(units.size()) {
    for (std::size_t u = 0; u < units.size(); ++u) {
      const bool another = u == 0 || units[u].operation != units[u - 1].operation || units[u].dtype != units[u - 1].dtype;
      if (another) groups_.push_back({u, u});
      groups_.back().end = u + 1;
    }
  }

  std::vector<Record> all(Asked& first) {
    std::vector<std::unique_ptr<spec::Backend>> more;
    std::vector<std::unique_ptr<Shared>> asked_by;
    std::vector<std::jthread> workers;
    for (unsigned j = 0; j < std::max(1u, options_.jobs); ++j) {
      Asked* backend = &first;
      if (j > 0 && options_.another) {
        more.push_back(options_.another());
        backend = asked_by.emplace_back(std::make_unique<Shared>(*more.back())).get();
      }
      workers.emplace_back([this, backend] { work(*backend); });
    }
    if (options_.progress != nullptr) show_progress(*options_.progress);
    workers.clear();
    return collected();
  }

 private:
  // A worker takes all units of one operation and element type: their kernels lie in its backend's cache. Where no
  // operation is left it helps those who have most to do.
  void work(Asked& backend) {
    std::size_t own = groups_.size();
    while (const auto unit = next_unit(own)) {
      found_[*unit] = asked(units_[*unit], backend);
      ++counts_.units;
    }
  }

  std::optional<std::size_t> next_unit(std::size_t& own) {
    const std::lock_guard lock(mutex_);
    if (own == groups_.size() || groups_[own].left() == 0) {
      const auto most = [](const Group& a, const Group& b) { return a.left() < b.left(); };
      own = untouched_ < groups_.size() ? untouched_++ : static_cast<std::size_t>(std::max_element(groups_.begin(), groups_.end(), most) - groups_.begin());
    }
    if (own == groups_.size() || groups_[own].left() == 0) return std::nullopt;
    return groups_[own].next++;
  }

  void show_progress(std::ostream& terminal) {
    while (counts_.units < units_.size()) {
      terminal << "\r\033[K" << progress_line(counts_, units_.size(), options_.columns ? options_.columns() : 80) << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    terminal << "\r\033[K" << std::flush;
  }

  std::vector<Record> asked(const Unit& unit, Asked& backend) {
    std::vector<Record> records, fresh;
    Cases cases(unit, options_, &held_.description);
    while (const auto next = cases.next()) {
      Record record = record_of(*next);
      if (const auto earlier = known_.find(record.id); earlier != known_.end()) {
        record.outcome = earlier->second.outcome;
      } else {
        if (next->made) {
          record.outcome = check(*next->made, backend, held_.contract);
          record.outcome.why = well_formed(record.outcome.why);
        }
        fresh.push_back(record);
      }
      count(record.outcome);
      if (record.outcome.verdict == Verdict::unsupported) cases.refused();
      records.push_back(std::move(record));
    }
    if (const auto none = cases.ruled_out()) {
      records.push_back(record_of(*none));
      count(records.back().outcome);
    }
    journal_.append(fresh);
    return records;
  }

  static Record record_of(const CaseKey& key, spec::Mode mode) {
    Record record;
    record.id = id_of(key);
    record.operation = key.operation;
    record.dtype = name_of(key.dtype);
    record.check = name_of(key.check);
    record.mode = name_of(mode);
    return record;
  }

  // Nothing was asked, which is to be seen.
  static Record record_of(const Cases::RuledOut& none) {
    Record record = record_of(none.key, none.mode);
    record.outcome.verdict = Verdict::unsupported;
    record.outcome.why = fmt::format("not asked: every case needs {}, which the description does not list", name_of(none.dtype));
    return record;
  }

  static Record record_of(const Cases::Next& next) {
    Record record = record_of(next.key, next.made ? next.made->mode : spec::Mode::forward);
    if (next.made) {
      record.classes = next.made->classes;
      record.case_json = summary_json(*next.made);
    } else {
      record.outcome.verdict = Verdict::crashed;
      record.outcome.why = next.problem;
    }
    return record;
  }

  void count(const Outcome& outcome) {
    ++counts_.cases;
    counts_.comparisons += outcome.comparisons;
    if (is_bad(outcome.verdict)) ++counts_.fails;
    if (outcome.verdict == Verdict::unsupported) ++counts_.unsupported;
  }

  std::vector<Record> collected() {
    std::vector<Record> records;
    for (auto& unit : found_) std::move(unit.begin(), unit.end(), std::back_inserter(records));
    std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.id < b.id; });
    return records;
  }

  const ConformOptions& options_;
  const std::vector<Unit>& units_;
  const Held& held_;
  const std::map<std::string, Record>& known_;
  Journal& journal_;
  std::vector<std::vector<Record>> found_;
  std::mutex mutex_;  ///< of groups_ and untouched_
  std::vector<Group> groups_;
  std::size_t untouched_ = 0;  ///< the first group that nobody took
  Counts counts_;
};

}  // namespace

std::vector<Record> ask_all(const ConformOptions& options, const std::vector<Unit>& units, const Held& held, Asked& first,
                            const std::map<std::string, Record>& known, Journal& journal) {
  return Asking(options, units, held, known, journal).all(first);
}

}  // namespace etalon::conformance
