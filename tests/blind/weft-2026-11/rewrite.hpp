/// \file
/// Simplifies graphs: constants, neutral elements, layouts, common subexpressions.
#pragma once

#include <vector>

#include "graph.hpp"

namespace weft {

/// An equal graph of fewer nodes; the ids of outputs are brought up to date.
Graph rewritten(const Graph& g, std::vector<int>& outputs);

}  // namespace weft
