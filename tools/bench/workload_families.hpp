/// \file
/// The families of workloads, each in a source of its own. Only they name operations.
#pragma once

#include <vector>

#include "tools/bench/workload.hpp"

namespace etalon::bench {

/// Products of matrices: squares and rectangles.
void add_products(std::vector<Workload>& all);
/// Convolutions, forward and both derivatives.
void add_convolutions(std::vector<Workload>& all);
/// Work along the rows of a matrix: a fused chain, softmax, layer norm; and attention.
void add_rows(std::vector<Workload>& all);
/// The same of sizes that fill a GPU, where most of the time goes into one thing: arithmetic or memory.
void add_large_products(std::vector<Workload>& all);
void add_large_rows(std::vector<Workload>& all);
/// Training steps, derivatives of models against their forward pass, first calls.
void add_models(std::vector<Workload>& all);

}  // namespace etalon::bench
