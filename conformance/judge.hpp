/// \file
/// The verdict on one answer to one request, wherever the answer came from: each element against the values that the
/// definitions and a contract admit. It knows no operation and asks nobody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conformance/check.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// Judges all that the answer holds: outputs, and tangents or cotangents as the request's mode has them. A program of
/// several calls is judged as a whole, or part by part where it falls into parts that share no value.
[[nodiscard]] Outcome judge(const spec::Request& request, const spec::Answer& answer, const spec::Contract& contract);

/// One line in, one line out: `{"request": R, "answer": A}` as in Protocol 1, answered with the outcome as JSON. Sets
/// `outcome` to it. A malformed line throws.
[[nodiscard]] std::string judge_line(std::string_view line, const spec::Contract& contract, Outcome& outcome);

/// An outcome that fails for this reason, with one comparison.
[[nodiscard]] Outcome failed(std::string why);

/// What a refusal counts as.
[[nodiscard]] Outcome refused(const spec::Refusal& refusal);

/// The verdict of the bounds in the words of a report.
[[nodiscard]] Outcome outcome_of(const reference::Verdict& verdict, const std::vector<HostTensor>& got,
                                 const std::vector<std::string>& names);

}  // namespace etalon::conformance
