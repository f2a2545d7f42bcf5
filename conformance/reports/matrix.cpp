#include "conformance/reports/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace etalon::conformance {
namespace {

std::size_t column_of(const Record& r) {
  const std::string_view name = r.check == name_of(Check::value) ? columns[0] : std::string_view(r.check);
  const auto found = std::find(columns.begin(), columns.end(), name);
  return static_cast<std::size_t>(std::min(found, columns.end() - 1) - columns.begin());
}

}  // namespace

void Cell::add(const Record& r) {
  ++verdicts[static_cast<std::size_t>(r.outcome.verdict)];
  ++cases;
  comparisons += r.outcome.comparisons;
  undecided += r.outcome.undecided;
  if (r.outcome.verdict == Verdict::pass) worst = std::max(worst, r.outcome.worst_ratio);
}

std::string_view Cell::state() const {
  if (cases == 0) return "none";
  if (bad() > 0) return "fail";
  if (of(Verdict::waived) > 0) return "waived";
  if (of(Verdict::unsupported) == cases) return "unsupported";
  return of(Verdict::pass) > 0 ? "pass" : "undecided";
}

std::string Cell::text() const {
  const std::string_view is = state();
  if (is == "none") return "-";
  if (is == "fail") return fmt::format("FAIL {}/{}", bad(), cases);
  if (is == "waived") return fmt::format("waived {}/{}", of(Verdict::waived), cases);
  if (is != "pass") return std::string(is);
  return fmt::format("{} ({})", comparisons, ratio_text(worst));
}

Matrix matrix_of(const std::vector<Record>& records) {
  Matrix matrix;
  for (const Record& r : records) matrix[r.operation][column_of(r)].add(r);
  return matrix;
}

Cell whole(const std::array<Cell, columns.size()>& cells) {
  Cell all;
  for (const Cell& c : cells) {
    for (std::size_t v = 0; v < verdict_count; ++v) all.verdicts[v] += c.verdicts[v];
    all.cases += c.cases;
    all.comparisons += c.comparisons;
    all.undecided += c.undecided;
    all.worst = std::max(all.worst, c.worst);
  }
  return all;
}

std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio); }

}  // namespace etalon::conformance
