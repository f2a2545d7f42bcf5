/// \file
/// Draws calls that fit values: which read a type, or keep it. They are not added yet, and no operation is known by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/drawing.hpp"
#include "conformance/roles/composition.hpp"

namespace etalon::conformance {

/// Whether an operand may hold numbers of this element type, in a case of another.
[[nodiscard]] bool may_hold(spec::Range range, DType dtype, DType of_case);

/// All rows of axes get these extents.
void make_equal(Assignment& choices, const std::vector<std::int64_t>& extents);

/// What most calls of a program wish: no extents that are odd on purpose, and attributes left out where the program allows it.
[[nodiscard]] SizeWish size_wish(const Composition& c);

/// A call of such a size, in which operands that share an element type have this one.
[[nodiscard]] std::optional<DrawnCall> drawn(Composition& c, const spec::Definition& d, const SizeWish& wish, std::optional<DType> shared = {});

/// A call whose first operand has this type. \param equal all rows have its extents
[[nodiscard]] std::optional<DrawnCall> drawn_on(Composition& c, const spec::Definition& d, const spec::ValueType& type, bool equal = false);

/// A call of the program's definition, about so large. \param square all extents that have names are equal
[[nodiscard]] std::optional<DrawnCall> drawn_alone(Composition& c, std::int64_t elements, bool square);

/// The extents of an operand that the program's definition reads first: some read tensors of one rank only.
[[nodiscard]] std::optional<Fit> what_is_read(Composition& c);

/// An elementwise call that gives this type, reading at least so many operands of it.
[[nodiscard]] std::optional<DrawnCall> elementwise_of(Composition& c, const spec::ValueType& type, std::size_t alike);

/// A move whose result has the type of what it reads, and in which no axis of `apart` moves.
[[nodiscard]] std::optional<DrawnCall> move_that_keeps(Composition& c, const spec::ValueType& type, const std::vector<std::size_t>& apart = {});

/// The axes that attributes name, of an operand of this rank.
[[nodiscard]] std::vector<std::size_t> axes_named(const DrawnCall& call, std::size_t rank);

}  // namespace etalon::conformance
