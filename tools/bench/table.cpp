#include <fmt/format.h>

#include <ostream>

#include "tools/bench/pages.hpp"
#include "tools/bench/quantity_text.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::bench {
namespace {

std::string time_of(const Measurement* m) { return m == nullptr ? "-" : time_text(summary_of(m->seconds).median); }

}  // namespace

void write_table(std::ostream& out, const Run& run) {
  out << fmt::format("\n{:24} {:>7} {:>10}  {:16} {:>10} {:>8}\n", "workload", "threads", "etalon", "best peer", "",
                     "ratio");
  for (const Cell& cell : run.cells) {
    const Standing s = standing_of(cell);
    out << fmt::format("{:24} {:>7} {:>10}  {:16} {:>10} {:>8}\n", cell.workload, cell.threads, time_of(s.etalon),
                       s.peer == nullptr ? "-" : s.peer->competitor, time_of(s.peer),
                       s.ratio ? ratio_text(*s.ratio) : "-");
  }
  for (const Cell& cell : run.cells) {
    for (const Measurement& m : cell.measurements) {
      if (m.verdict == Verdict::disagrees) {
        out << fmt::format("{}, {} threads: {} disagrees, {:.3g} times the allowed error; its time is not quoted\n",
                           cell.workload, cell.threads, m.competitor, m.error);
      } else if (m.verdict == Verdict::failed || m.verdict == Verdict::late) {
        out << fmt::format("{}, {} threads: {}: {}\n", cell.workload, cell.threads, m.competitor, m.note);
      }
    }
  }
  out << "\nMedians; the ratio is the peer's over Etalon's: above 1 Etalon is faster.\n";
}

}  // namespace etalon::bench
