/// \file
/// The type that a kernel's loops count in: 32 bits where no index can leave them, since a GPU divides and multiplies 64 bits slowly.
#pragma once

#include <string_view>

#include "compiled/ir/nest.hpp"

namespace etalon::cuda {

/// `int` where tensors, loops, and all that is computed of loops' variables alone are known to fit it by far, else `int64_t`.
[[nodiscard]] std::string_view index_type(const spec::System& system, const compiled::loops::Nest& nest);

}  // namespace etalon::cuda
