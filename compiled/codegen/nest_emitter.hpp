/// \file
/// One kernel as one LLVM function.
#pragma once

#include <llvm/IR/Module.h>

#include "compiled/codegen/sleef.hpp"
#include "compiled/loops/nest.hpp"

namespace etalon::compiled {

/// Adds `void name(tensors, begin, end)` to the module. \returns the extent of its parallel loop in blocks, or 1.
std::int64_t emit_nest(llvm::Module& module, const std::string& name, const spec::System& system,
                       const loops::Nest& nest, VectorLevel level);

}  // namespace etalon::compiled
