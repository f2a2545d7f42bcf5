/// \file
/// One kernel as one LLVM function.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "compiled/emit/llvm/debug_lines.hpp"
#include "compiled/emit/llvm/instruction_writer.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// Adds `void name(operands, begin, end, scratch)` to the module. Kernels that differ in the names of their tensors and variables
/// alone get equal functions. Its first argument holds the addresses of the kernel's arguments in their order.
/// \param writer that of the module
/// \param lines notes the line of each instruction; null for none.
/// \returns the turns that threads share, or 1.
std::int64_t emit_nest(InstructionWriter& writer, llvm::Module& module, const std::string& name, const spec::System& system,
                      const loops::Nest& nest, const Machine& machine, DebugLines* lines = nullptr);

}  // namespace etalon::compiled
