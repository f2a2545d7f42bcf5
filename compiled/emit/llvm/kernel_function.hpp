/// \file
/// The function that a kernel becomes. It knows nothing of what it does.
#pragma once

#include <string>

#include <llvm/IR/Module.h>

#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// The argument of a kernel function that points to memory of the thread that runs it.
inline constexpr unsigned scratch_argument = 3;

/// Adds `void name(operands, begin, end, scratch)` to the module, without a body.
llvm::Function& kernel_function(llvm::Module& module, const std::string& name, const Machine& machine);

}  // namespace etalon::compiled
