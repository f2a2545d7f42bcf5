/// \file
/// Numbers so small that what is linear in them is subnormal: who takes such numbers for 0 is seen. It knows cases, and no
/// operation.
#pragma once

#include "conformance/case.hpp"
#include "conformance/draw.hpp"

namespace etalon::conformance {

/// In some cases of values and derivatives, where others would be ordinary or tiny, some of several real operands become
/// subnormal, one of them by turns. Which others is drawn, since a sum shows them only where all its terms are as small, a product
/// where one factor is, a root of what squares are added to beside tiny ones. In some cases the rest becomes so large that
/// products are ordinary: who reads those on sees the small factor too.
void make_operands_faint(Case& c, Draw& draw);

/// Along ordinary operands the directions of some cases are subnormal; along operands made so, their tangents are, or other
/// tangents and all cotangents are so large that products with such operands are ordinary.
void make_directions_faint(Case& c, Draw& draw);

}  // namespace etalon::conformance
