/// \file
/// Reads a definition's signature under a given assignment: which rows, extents, packs and attributes it names, and
/// what extents its operands get. It draws nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/assignment.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// A row's key: its name without dots; the anonymous row `...` has the empty name.
[[nodiscard]] std::string row_key(std::string_view text);
/// The key of a pack's member: `n#1`.
[[nodiscard]] std::string member_key(std::string_view name, std::size_t member);
/// A pack's name without `#` and dots.
[[nodiscard]] std::string pack_key(std::string_view text);

/// The words of `a | b | c`.
[[nodiscard]] std::vector<std::string> choices_of(std::string_view choices);

/// The names that a signature binds.
struct Names {
  std::vector<std::string> rows;          ///< of operands, plain
  std::vector<std::string> single_rows;  ///< those of at most one axis, `..m?`
  std::vector<std::string> extents;       ///< of operands, plain
  std::vector<std::string> pack_rows;     ///< one value per member
  std::vector<std::string> pack_extents;  ///< one value per member
  std::vector<std::string> operand_packs;
  std::vector<std::pair<std::string, std::string>> joined;  ///< rows that appear in `p & q`
  std::vector<std::string> ordered_rows;  ///< that an attribute puts in order: they are all that an operand has
  /// Rows and extents placed by an attribute: attribute name, row key (or nothing for a single axis).
  std::vector<std::pair<std::string, std::optional<std::string>>> placed;
};
[[nodiscard]] Names names_of(const spec::Definition& definition);

/// Whether operands share a type that may be an integer's.
[[nodiscard]] bool takes_integers(const spec::Definition& definition);

/// Whether an operand may hold reals; what has none is neither differentiated nor told apart by families of numbers.
[[nodiscard]] bool takes_reals(const spec::Definition& definition);

/// Whether each element of the only result is made of the elements at the same place: operands have one row of axes each, and
/// nothing is reduced.
[[nodiscard]] bool is_elementwise(const spec::Definition& definition);

/// Whether each element of the results is an element of an operand, or a constant, and the definition is not elementwise: slices,
/// orders of axes, paddings, gatherings.
[[nodiscard]] bool is_move(const spec::Definition& definition);

/// Whether one equation gives the only result, and reduces: sums, products of matrices, extrema, scans, convolutions.
[[nodiscard]] bool is_fold(const spec::Definition& definition);

/// Every node below and including this one, siblings of the root excluded.
[[nodiscard]] std::vector<spec::NodeId> below(const spec::Definition& definition, spec::NodeId root);

/// The integer that an expression of extents and attributes denotes, or nothing.
[[nodiscard]] std::optional<std::int64_t> integer_value(const spec::Definition& definition, spec::NodeId node,
                                                        const Assignment& assignment, std::size_t member = 0);

/// Number of axes that a list of axis items has, placed ones included.
[[nodiscard]] std::optional<std::size_t> rank_of_axes(const spec::Definition& definition, spec::NodeId first,
                                                      const Assignment& assignment, std::size_t member = 0);

/// The extents of an operand (of its pack's member), or nothing when they do not follow from the assignment.
[[nodiscard]] std::optional<std::vector<std::int64_t>> extents_of_axes(const spec::Definition& definition,
                                                                       spec::NodeId first, const Assignment& assignment,
                                                                       std::size_t member = 0);

}  // namespace etalon::conformance
