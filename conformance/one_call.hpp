/// \file
/// The one call that a request comes down to: what its outputs do not need is left away. It knows no answer.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/schemas.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// A request whose outputs are all results of one call of its inputs, each read once.
struct OneCall {
  Case call;                                       ///< with all results, and the operands that are there
  std::vector<std::size_t> results;                ///< per output of the program: which result of the call it is
  std::vector<std::optional<std::size_t>> inputs;  ///< per input of the program: which operand that is there, if any
};

/// Nothing where the outputs need several calls, another step, an input twice, or no call at all.
[[nodiscard]] std::optional<OneCall> one_call_of(const spec::Request& request);

/// The schema of the call with the outputs in the order of the request: what does not belong to an output is left away,
/// and the derivative by an input that nothing reads is zero.
[[nodiscard]] Schema as_asked(Schema schema, const OneCall& one, const spec::Request& request);

/// Per output of the program, whether a step that it needs may be computed in ways that the equations of the whole do
/// not show: a call of a definition with parts.
[[nodiscard]] std::vector<bool> needs_parts(const spec::Program& program);

}  // namespace etalon::conformance
