/// \file
/// Which classes of numbers and shapes a run met, per operation, mode and element type; an empty cell has a reason or
/// is counted as one that should not be. It judges nothing.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/reports/report.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {

/// The classes of a case: the families of its real operands, then `empty` (no elements), `single` (one element
/// everywhere), `absent` (an optional operand is left out), `integers` (operands that may be real are not).
[[nodiscard]] std::vector<std::string> classes_of(const Case& c, const std::vector<Family>& families,
                                                  std::span<const spec::ValueType> results);

/// How many cells of operation × mode × element type × class there are, and how many of them nothing met.
struct Coverage {
  std::size_t cells = 0;
  std::size_t explained = 0;    ///< empty, for a reason that the definition gives
  std::size_t unexplained = 0;  ///< empty without a reason
};

/// Counts the cells of the operations, forward, JVP and VJP, and element types that the records name, and writes the
/// table as Markdown where `table` is given.
/// \param library that the records speak of
Coverage cover(const std::vector<Record>& records, const spec::Library& library, std::ostream* table);

}  // namespace etalon::conformance
