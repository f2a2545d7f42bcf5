/// \file
/// What a contract admits, as fields of an answer of Protocol 1.
#pragma once

#include "spec/backend.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {

/// Adds `lower`, `upper` (f64; of integers and truth values their own type) and `flags` for the outputs, and the same with the prefix `tangents_`, `cotangents_` and
/// `cotangent_tangents_` for every other list that the mode answers with. `flags` has per tensor the elements that may
/// be something else than a number in the interval: `{"element": 3, "admits": ["nan", "inf"]}`; `"any"` means that the
/// bound says nothing there.
void add_bounds(spec::Json& answer, const spec::Request& request, const spec::Contract& contract);

}  // namespace etalon::conformance
