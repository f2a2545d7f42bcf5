/// \file
/// The way back from an element to its indices, and from them to an equation's variables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "reference/flat.hpp"
#include "spec/dims.hpp"

namespace etalon::reference {

/// The index on each axis of the element at a row-major position.
[[nodiscard]] Dims indices_of(const Dims& dims, std::size_t element);

/// Whether the equation gives the element at this row-major position of its target; then its loops' variables are set in
/// `slots`. Nothing where its place is not one variable or one number per axis, so that only running it tells.
[[nodiscard]] std::optional<bool> solve_place(const Flat& flat, const FlatEquation& equation, const Dims& dims,
                                              std::size_t element, std::span<std::int64_t> slots);

}  // namespace etalon::reference
