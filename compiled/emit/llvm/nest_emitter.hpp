/// \file
/// One kernel as one LLVM function.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compiled/emit/llvm/debug_lines.hpp"
#include "compiled/emit/llvm/sleef.hpp"
#include "compiled/ir/nest.hpp"

namespace etalon::compiled {

struct EmittedNest {
  std::int64_t blocks = 1;                ///< the extent of its parallel loop in blocks, or 1
  std::vector<spec::TensorId> operands;   ///< whose addresses its first argument holds, in order
};

/// Adds `void name(operands, begin, end, scratch)` to the module. Kernels that differ in the names of their tensors and variables
/// alone get equal functions.
/// \param lines notes the line of each instruction; null for none.
EmittedNest emit_nest(llvm::Module& module, const std::string& name, const spec::System& system,
                      const loops::Nest& nest, VectorLevel level, DebugLines* lines = nullptr);

}  // namespace etalon::compiled
