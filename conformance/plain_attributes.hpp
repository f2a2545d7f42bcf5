/// \file
/// Real attributes that are 0 or powers of two, where others would keep from being met what a case is to meet: two sides of a
/// comparison that are equal exactly, a root or a quotient of next to nothing. It reads declarations and knows no operation.
#pragma once

#include "conformance/assignment.hpp"
#include "spec/dtype.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// The same choices with each real attribute that has many digits or is small, and with each that is 0 in place of a share, a power
/// of two between 1/8 and 1/2, as far as typing allows; neighbours differ. Products of these with numbers of few digits are exact, so that one of two sides
/// can be chosen to equal the other.
[[nodiscard]] Assignment with_powers_of_two(const spec::Definition& definition, Assignment assignment, DType dtype);

/// The same choices with 0 for each real attribute whose default is positive and at most 1/1000, as far as typing allows: what is
/// added to keep a divisor from 0 hides how roots and quotients of the smallest numbers are computed.
[[nodiscard]] Assignment without_small_summands(const spec::Definition& definition, Assignment assignment, DType dtype);

}  // namespace etalon::conformance
