/// \file
/// Bounds that let an answer be computed by other schemas too: it conforms where each of its tensors lies, as a whole, in
/// the bounds of one of them. It does not know where schemas come from.
#pragma once

#include <functional>
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

/// Visits everything that `admit_schemas` may hold a tensor to: what the meaning admits, with what the freedoms leave open,
/// then each schema, then each schema along one tangent after the other.
void for_each_admitted(const reference::Envelopes& meaning, std::span<const Schema> schemas, const Freedoms& freedoms,
                       const spec::Contract& contract, const std::function<void(const reference::Envelopes&)>& visit);

/// Widens the intervals to the hulls with others of the same outputs; what those leave open decides nothing. An integer that
/// is another one in the others is undecided.
void widen(reference::Envelopes& bounds, const reference::Envelopes& others);

}  // namespace etalon::conformance
