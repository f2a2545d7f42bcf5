/// \file
/// Checks of programs of several calls. It knows no operation.
#pragma once

#include <optional>
#include <vector>

#include "conformance/check.hpp"

namespace etalon::conformance {

/// Values: every intermediate is asked for, and each call is judged on what the backend itself gave it, so that errors do
/// not add up. Derivatives, and values of a backend that fuses calls: judged as a whole; where that fails and a call fails
/// alone, on the backend's own values and derivatives, the failure is booked on this call.
[[nodiscard]] Outcome check_program(const Case& c, Asked& backend, const spec::Contract& contract);

/// What `check_program` asks whatever is answered.
[[nodiscard]] std::vector<spec::Request> known_program_requests(const Case& c, const Asked& backend);

/// Of a program case that failed at one call: that call alone, on the numbers that led to it.
[[nodiscard]] std::optional<Case> failing_call(const Case& c, Asked& backend, const spec::Contract& contract);

}  // namespace etalon::conformance
