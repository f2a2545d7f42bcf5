/// \file
/// An instruction as a function of its own, through the writer that kernels use. It knows no row.
#pragma once

#include <string>

#include <llvm/IR/Module.h>

#include "compiled/emit/llvm/instruction_writer.hpp"

namespace etalon::compiled {

/// Adds a kernel function whose operands are the memory of the instruction's operands and of its result: it loads what is no memory,
/// and stores the result. The result's memory holds the operand `old` before.
/// \param lanes where the meaning leaves their number open
void emit_alone(InstructionWriter& writer, llvm::Module& module, const std::string& name, const Instruction& i, DType type,
                std::int64_t lanes, const Machine& machine);

}  // namespace etalon::compiled
