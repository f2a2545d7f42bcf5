/// \file
/// Reads machine code for NVIDIA's devices as its compilers leave it, an ELF file: what each kernel takes, and its instructions. It needs
/// neither toolkit nor driver, and believes no byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/opcodes.hpp"

namespace etalon::cuda {

/// A kernel as it was compiled.
struct CompiledKernel {
  std::string name;
  std::size_t registers = 0;        ///< of a thread, 32 bits each
  std::size_t local_bytes = 0;      ///< of a thread's stack, in device memory
  std::size_t shared_bytes = 0;     ///< that the kernel declares for a block, without those that a launch adds and those that the system keeps
  std::size_t parameter_bytes = 0;
  InstructionCounts instructions;
};

/// The kernels of an image in the order of their names.
/// \throws SpecViolation `cubin: …` where the bytes are no such file
[[nodiscard]] std::vector<CompiledKernel> kernels_in(std::string_view cubin);

}  // namespace etalon::cuda
