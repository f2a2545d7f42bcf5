/// \file
/// Bounds that let an answer be computed by other schemas too: it conforms where each of its tensors lies, as a whole, in
/// the bounds of one of them. It does not know where schemas come from.
#pragma once

#include <span>

#include "conformance/schemas.hpp"
#include "conformance/undifferentiable.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Admits what the freedoms leave open in each envelope that does not admit its tensor, and puts in place of those that
/// still do not the first one of another schema that does, if none does then of a schema along one tangent after the
/// other. Where each tensor is admitted but no branch of the decisions explains them all, a schema that explains all of
/// them takes the place of the whole.
void admit_schemas(reference::Envelopes& bounds, std::span<const HostTensor> got, std::span<const Schema> schemas,
                   const Freedoms& freedoms, const spec::Contract& contract);

/// Widens the intervals to the hulls with others of the same outputs; what those leave open decides nothing.
void widen(reference::Envelopes& bounds, const reference::Envelopes& others);

/// Widens the intervals to those of all schemas.
void widen_by_schemas(reference::Envelopes& bounds, std::span<const Schema> schemas, const spec::Contract& contract);

}  // namespace etalon::conformance
