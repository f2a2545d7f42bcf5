/// \file
/// Kernels that do the same to other tensors: code for one of them serves them all. It generates none.
#pragma once

#include <cstddef>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// How one kernel stands to those before it.
struct Likeness {
  std::size_t model = 0;          ///< the first kernel that differs in the names of tensors, variables and registers alone; perhaps itself
  std::vector<TensorId> tensors;  ///< that the kernel mentions, each once; position by position they correspond to its model's
};

/// One for each kernel.
[[nodiscard]] std::vector<Likeness> find_alike(const spec::System& system, const std::vector<Nest>& nests);

}  // namespace etalon::compiled::loops
