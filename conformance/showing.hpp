/// \file
/// Any case with its numbers: what is asked, what the equations mean there, and the interval. It asks no backend.
#pragma once

#include <iosfwd>

#include "conformance/case.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {

/// Prints the case: operands, attributes, directions, layouts, equations; of a call that is to be answered with numbers
/// the exact value and the interval of the first elements of each tensor, by the definition's own equations.
void show(std::ostream& out, const Case& c, const spec::Contract& contract);

}  // namespace etalon::conformance
