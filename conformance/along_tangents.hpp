/// \file
/// Derivatives along one tangent at a time: what is linear in several tangents may be computed for each of them, rounded,
/// and added up. It knows no operation by name.
#pragma once

#include "conformance/schemas.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Whether the schema's tangents can be told apart: two of them or more are not zero.
[[nodiscard]] bool has_directions(const Schema& schema);

/// The envelopes `whole` of a schema, with those of its tangents replaced by the sums of the envelopes along one tangent
/// each, one rounding per addition included. An element that is no finite number along one of them, or that hangs on open
/// decisions, keeps what `whole` says of it.
/// Source: the sum of k numbers in any order is within (k - 1)·u·Σ|terms|·(1 + O(ku)) of them; proofs-notes/rounding.md, Lemma S.
[[nodiscard]] reference::Envelopes along_directions(const Schema& schema, const reference::Envelopes& whole,
                                                    const spec::Contract& contract);

}  // namespace etalon::conformance
