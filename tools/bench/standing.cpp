#include "tools/bench/pages.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::bench {

Standing standing_of(const Cell& cell) {
  Standing standing;
  double least = 0;
  for (const Measurement& m : cell.measurements) {
    if (m.seconds.empty()) continue;
    const double median = summary_of(m.seconds).median;
    if (m.verdict == Verdict::limit) {
      standing.copy = &m;
    } else if (m.competitor == "etalon") {
      standing.etalon = &m;
    } else if (standing.peer == nullptr || median < least) {
      standing.peer = &m;
      least = median;
    }
  }
  if (standing.etalon != nullptr && standing.peer != nullptr)
    standing.ratio = least / summary_of(standing.etalon->seconds).median;
  return standing;
}

}  // namespace etalon::bench
