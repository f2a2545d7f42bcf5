/// \file
/// The envelopes of a schema: those of its system, under what the contract promises and the schema allows besides.
#pragma once

#include <span>

#include "conformance/schemas.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Where the schema divides by reciprocals, what its text rounds once is a quotient of IEEE 754 still.
/// \param within as for `reference::envelopes`; empty where some elements alone are wanted
[[nodiscard]] reference::Envelopes envelopes_of(const Schema& schema, const spec::Contract& contract,
                                                std::span<const reference::Envelope* const> within = {});

}  // namespace etalon::conformance
