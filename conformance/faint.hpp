/// \file
/// Numbers so small that what is linear in them is subnormal: who takes such numbers for 0 is seen. It knows cases, and no
/// operation.
#pragma once

#include "conformance/case.hpp"
#include "conformance/draw.hpp"

namespace etalon::conformance {

/// In some cases of values and derivatives, where others would be ordinary, some of several real operands become subnormal.
/// Which ones is drawn, since a sum shows them only where all its terms are as small, a product where one factor is.
void make_operands_faint(Case& c, Draw& draw);

/// Along ordinary operands the directions of some cases are subnormal; along operands made so, their tangents are.
void make_directions_faint(Case& c, Draw& draw);

}  // namespace etalon::conformance
