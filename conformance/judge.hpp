/// \file
/// The verdict on one answer to one request, wherever the answer came from: each element against the values that the
/// definitions and a contract admit. It knows no operation and asks nobody.
#pragma once

#include <string>
#include <string_view>

#include "conformance/outcome.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Judges all that the answer holds: outputs, and tangents or cotangents as the request's mode has them. A program of
/// several calls is judged as a whole, or part by part where it falls into parts that share no value.
[[nodiscard]] Outcome judge(const spec::Request& request, const spec::Answer& answer, const spec::Contract& contract);

/// One line in, one line out: `{"request": R, "answer": A}` as in Protocol 1, answered with the outcome as JSON. Sets
/// `outcome` to it. A malformed line throws.
[[nodiscard]] std::string judge_line(std::string_view line, const spec::Contract& contract, Outcome& outcome);

}  // namespace etalon::conformance
