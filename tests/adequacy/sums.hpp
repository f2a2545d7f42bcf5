/// \file
/// A sum taken apart: its terms as a tensor, and their sum in an arithmetic of fewer bits.
#pragma once

#include <optional>

#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::adequacy {

struct Terms {
  spec::System system;         ///< gives the terms in place of their sum
  spec::TensorId tensor = -1;  ///< the terms, zero where the guard forbids them: its last axes are summed over
  spec::TensorId target = -1;  ///< their sum
};

/// Of an equation that is a sum and gives each element of its target in the order of its binders; nothing of others.
[[nodiscard]] std::optional<Terms> terms_of_sum(const spec::System& system, std::size_t equation);

/// Their sum, each addition rounded to the type.
[[nodiscard]] HostTensor added_in(const HostTensor& terms, const Dims& target, DType type);

}  // namespace etalon::adequacy
