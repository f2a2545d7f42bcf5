/// \file
/// A report as a table of operations and modes, for every format that shows one.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// What is asked of values, of both derivatives, and the rest.
inline constexpr std::array<std::string_view, 6> columns{"forward", "jvp", "vjp", "step", "adjoint", "other"};

/// How the cases of one operation in one column ended.
struct Cell {
  std::array<std::size_t, verdict_count> verdicts{};
  std::size_t cases = 0, comparisons = 0, undecided = 0;
  double worst = 0;  ///< largest error over bound of the cases that pass

  void add(const Record& record);
  [[nodiscard]] std::size_t of(Verdict v) const { return verdicts[static_cast<std::size_t>(v)]; }
  [[nodiscard]] std::size_t bad() const { return of(Verdict::fail) + of(Verdict::crashed) + of(Verdict::timeout); }
  /// `none`, `fail`, `waived`, `unsupported`, `undecided` or `pass`: what is worst about it.
  [[nodiscard]] std::string_view state() const;
  /// `-`, `FAIL 3/40`, `waived 2/40`, `unsupported`, `undecided` or comparisons with the worst error over bound.
  [[nodiscard]] std::string text() const;
};

/// The operations by name.
using Matrix = std::map<std::string, std::array<Cell, columns.size()>>;
[[nodiscard]] Matrix matrix_of(const std::vector<Record>& records);

/// All columns of an operation as one.
[[nodiscard]] Cell whole(const std::array<Cell, columns.size()>& cells);

/// `0.42`, or `inf`.
[[nodiscard]] std::string ratio_text(double ratio);

}  // namespace etalon::conformance
