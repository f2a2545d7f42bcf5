/// \file
/// What elementwise nodes do to numbers.
#pragma once

#include "graph.hpp"

namespace weft {

/// The node's value from those of its operands; `from` is the type of the first of them.
Wide evaluated(Op op, Type type, Type from, Wide a, Wide b, Wide c);

}  // namespace weft
