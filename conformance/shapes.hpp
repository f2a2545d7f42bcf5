/// \file
/// From a definition to well-typed calls and back: choices for its rows, extents, packs and attributes, and the types
/// that follow. It reads the definition's signature and knows no operation by name.
#pragma once

#include <cstddef>
#include <optional>

#include "conformance/assignment.hpp"
#include "conformance/case.hpp"
#include "conformance/drawing.hpp"

namespace etalon::conformance {

/// Choices for this definition that give a well-typed call, or nothing when none was found.
[[nodiscard]] std::optional<Assignment> draw_assignment(const spec::Definition& definition, Draw& draw,
                                                        const SizeWish& wish, DType dtype);

/// The call that follows from the choices, or nothing when it is ill-typed.
[[nodiscard]] std::optional<CallTypes> call_of(const spec::Definition& definition, const Assignment& assignment,
                                               DType dtype);

/// The choices with an axis of one element before the last axis of a row, a new one where that can be; nothing where neither can.
[[nodiscard]] std::optional<Assignment> with_axis_of_one(const spec::Definition& definition, const Assignment& assignment,
                                                         DType dtype);

/// Whether typing accepts the call.
[[nodiscard]] bool well_typed(const spec::Definition& definition, const CallTypes& call);

/// For an operation that carries state: per result the position of the operand it becomes in the next step, or
/// nothing. Empty for an operation without state.
[[nodiscard]] std::vector<std::optional<std::size_t>> state_links(const spec::Definition& definition);

}  // namespace etalon::conformance
