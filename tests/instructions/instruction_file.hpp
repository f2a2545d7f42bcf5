/// \file
/// Instructions as C functions of their own, by the texts that emitted C takes them from. It knows no row.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiled/machine/instruction.hpp"

namespace etalon::test {

/// An instruction to be a function.
struct InstructionFunction {
  const compiled::Instruction* instruction = nullptr;
  DType type = DType::f32;  ///< of T
  std::int64_t lanes = 1;   ///< where the meaning leaves their number open
  std::string name;         ///< of `void name(void *const *memory)`: that of its operands and of its result
};

/// C99 with the functions, and what they need. Each instruction has a text in C.
[[nodiscard]] std::string instruction_file(std::span<const InstructionFunction> functions);

}  // namespace etalon::test
