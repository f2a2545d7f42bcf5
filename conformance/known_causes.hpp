/// \file
/// Causes of wrong numbers that can be recognised from one tensor: each predicts what the backend would have answered.
/// It asks nobody.
#pragma once

#include <cstddef>
#include <string>

#include "conformance/case.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// The first cause that explains every element of the tensor, as one line; empty where none does.
/// \param expected what was to be answered; \param output the tensor's place among outputs and derivatives
[[nodiscard]] std::string known_cause(const Case& c, const HostTensor& got, const reference::Envelope& expected,
                                      std::size_t output, const spec::Contract& contract);

}  // namespace etalon::conformance
