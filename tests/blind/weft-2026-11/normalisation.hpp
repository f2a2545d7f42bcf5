/// \file
/// Rows, and what is normalised along them.
#pragma once

#include <functional>
#include <vector>

#include "graph.hpp"

namespace weft {

struct Online {
  Wide top, sum;
};

Online online(const std::function<Wide(Int)>& x, Int n, bool guarded);
V as_rows(V x, const std::vector<Int>& axes);
V from_rows(V y, const Shape& shape, const std::vector<Int>& axes);
V normalised(V rows, Wide eps);
V masked_rows(V x, V m, Int axis);

}  // namespace weft
