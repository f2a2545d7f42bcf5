/// \file
/// What a program may answer when each of its calls is computed in any of the ways that its definition lets it be. It asks
/// nobody.
#pragma once

#include <optional>

#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Envelopes of what answers the request, in the order of its question (question.hpp): every call is bounded alone, in all
/// the ways of its definition, on operands (tangents, cotangents) that lie anywhere in their own envelopes. Wider than the
/// bound of the whole where that holds, and sound whichever ways a backend takes, call by call; whether it keeps more digits
/// of what lies between makes no difference.
/// Nothing where some value may be no finite number, hangs on what is undecided, or the mode answers second derivatives.
[[nodiscard]] std::optional<reference::Envelopes> call_by_call(const spec::Request& request, const spec::Contract& contract);

}  // namespace etalon::conformance
