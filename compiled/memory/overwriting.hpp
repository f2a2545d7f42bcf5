/// \file
/// Whether a kernel may write a tensor into the bytes of another one that it reads.
#pragma once

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// True if `value`, first written by this kernel, may take the bytes of `old`, which this kernel reads and does not
/// write, whatever the order of the shared loops: the same element type and extents; the statement that writes reads
/// `old` only at the element it writes; earlier statements read it only within the current values of the shared
/// loops; later ones not at all.
[[nodiscard]] bool may_overwrite(const spec::System& system, const Kernel& kernel, TensorId old, TensorId value);

}  // namespace etalon::compiled
