/// \file
/// Products of matrices, in tiles of packed panels.
#pragma once

#include <vector>

#include "graph.hpp"

namespace weft {

void contract_tiled(const Node& n, const std::vector<Wide>& a, const std::vector<Wide>& b, std::vector<Wide>& y, int seen);

}  // namespace weft
