/// \file
/// Whether what a call chooses makes a difference: an attribute that changes no number cannot be missed. It knows no operation.
#pragma once

#include "conformance/case.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::conformance {

/// Whether both calls have the same types and, on ordinary numbers, the same results, so that nothing tells which one was asked.
[[nodiscard]] bool give_the_same(const spec::Definition& definition, const CallTypes& one, const CallTypes& other);

/// Whether on ordinary numbers the result is the first operand, but for axes of one element: a slice of all, an order of axes
/// that is none.
[[nodiscard]] bool leaves_as_is(const spec::Instance& instance);

/// Whether each truth value and symbol of the call that is not its default gives other results than the default: padding
/// that counts or does not says nothing where there is none.
[[nodiscard]] bool choices_show(const spec::Definition& definition, const CallTypes& call);

}  // namespace etalon::conformance
