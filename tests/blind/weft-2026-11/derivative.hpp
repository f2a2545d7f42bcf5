/// \file
/// Derivatives of graphs, as more nodes of the same graph.
#pragma once

#include <map>
#include <vector>

#include "graph.hpp"

namespace weft {

/// Tangents of the outputs (empty where they do not move), from those of inputs.
std::vector<V> tangents(Graph& g, const std::vector<V>& outputs, const std::map<int, V>& seeds);
/// Cotangents of the inputs `wrt` (empty where no path leads there), from those of the outputs.
std::vector<V> cotangents(Graph& g, const std::vector<V>& outputs, const std::vector<V>& seeds,
                          const std::vector<V>& wrt);

}  // namespace weft
