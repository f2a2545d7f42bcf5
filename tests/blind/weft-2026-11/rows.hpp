/// \file
/// Steps on rows of memory.
#pragma once

#include <vector>

#include "graph.hpp"

namespace weft {

void reduce_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y);
void scan_rows(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y);
void products_of_others(const Node& n, const std::vector<Wide>& x, std::vector<Wide>& y);

}  // namespace weft
