/// \file
/// What functions take of the stack, as the back end noted it in the object: allocations, their alignment and spilled registers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <llvm/Support/MemoryBuffer.h>

namespace etalon::compiled {

/// Bytes of stack by the function's symbol. The object was made with `EmitStackSizeSection`; functions whose frames have no
/// fixed size are left out.
/// \throws InternalError for an object that cannot be read.
[[nodiscard]] std::map<std::string, std::uint64_t> stack_sizes(const llvm::MemoryBuffer& object);

}  // namespace etalon::compiled
