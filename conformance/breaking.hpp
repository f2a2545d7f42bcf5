/// \file
/// Calls that a definition does not allow, made from calls that it does. It reads signatures and knows no operation.
#pragma once

#include <optional>

#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// A call that differs from a well-typed one in one place and that typing refuses, or nothing when none was found. Often
/// an attribute is moved just beyond an end of what typing accepts: to the next integer, or the next binary64.
[[nodiscard]] std::optional<CallTypes> break_call(const spec::Definition& definition, const CallTypes& call,
                                                  Draw& draw);

}  // namespace etalon::conformance
