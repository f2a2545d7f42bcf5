/// \file
/// Who fills in zeros for tangents and cotangents that nobody gave answers NaN where a zero meets an infinity. It knows no
/// answer.
#pragma once

#include <optional>
#include <vector>

#include "conformance/undifferentiable.hpp"
#include "spec/backend.hpp"
#include "spec/contract/contract.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// A system that answers a request, and its inputs.
struct Filled {
  spec::System system;
  std::vector<HostTensor> inputs;
};

/// The request's system with zeros for all seeds that are not there: those that the request leaves out, tangents of inputs
/// that are not marked and of what the program computes from them alone, cotangents of results that no given one reads.
/// Its outputs are those of `question_of`.
/// \returns nothing where all seeds are there
[[nodiscard]] std::optional<Filled> with_filled_seeds(const spec::Request& request);

/// Raises the freedom of derivatives that may be NaN with zeros filled in.
void mark_filled_seeds(Freedoms& freedoms, const spec::Request& request, const spec::Contract& contract);

}  // namespace etalon::conformance
