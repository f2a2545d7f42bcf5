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
#include <span>
#include <thread>
#include <utility>

#include "conformance/case_file.hpp"
#include "conformance/cases.hpp"
#include "conformance/foreseen.hpp"
#include "spec/markup.hpp"

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
    if (options_.jobs <= 1 && options_.progress == nullptr) {
      work(first);
      return collected();
    }
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
    for (;;) {
      std::vector<Foreseen> some = begun(own, backend.foresight());
      if (some.empty()) return;
      announce(some, backend);
      for (Foreseen& one : some) {
        found_[one.unit()] = asked(one, backend);
        ++counts_.units;
      }
    }
  }

  // One unit, and more where the backend is to know of more cases. How many cases of a unit are drawn at a time depends on the unit alone.
  std::vector<Foreseen> begun(std::size_t& own, std::size_t foresight) {
    std::vector<Foreseen> some;
    std::size_t cases = 0;
    do {
      const auto unit = next_unit(own);
      if (!unit) break;
      some.emplace_back(*unit, Cases(units_[*unit], options_, &held_.description), foresight);
      cases += some.back().drawn().size();
    } while (cases < foresight);
    return some;
  }

  void announce(std::span<const Foreseen> some, Asked& backend) const {
    if (backend.foresight() == 0) return;
    std::vector<spec::Request> requests;
    for (const Foreseen& one : some) {
      for (const Cases::Next& next : one.drawn()) {
        if (!next.made || known_.contains(id_of(next.key))) continue;
        try {
          std::vector<spec::Request> own = known_requests(*next.made, backend);
          std::move(own.begin(), own.end(), std::back_inserter(requests));
        } catch (const std::exception&) {
          // The check tells.
        }
      }
    }
    if (!requests.empty()) backend.expect(requests);
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

  std::vector<Record> asked(Foreseen& unit, Asked& backend) {
    std::vector<Record> records, fresh;
    for (;;) {
      if (unit.drawn().empty()) {
        unit.draw();
        announce({&unit, 1}, backend);
      }
      if (unit.drawn().empty()) break;
      const Cases::Next next = unit.take();
      Record record = record_of(next);
      if (const auto earlier = known_.find(record.id); earlier != known_.end()) {
        record.outcome = earlier->second.outcome;
      } else {
        if (next.made) {
          record.outcome = check(*next.made, backend, held_.contract);
          record.outcome.why = well_formed(record.outcome.why);
        }
        fresh.push_back(record);
        if (options_.on_record) options_.on_record(record);
      }
      count(record.outcome);
      if (record.outcome.verdict == Verdict::unsupported && next.made) unit.cases().refused(*next.made);
      records.push_back(std::move(record));
    }
    if (const auto none = unit.cases().ruled_out()) {
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
