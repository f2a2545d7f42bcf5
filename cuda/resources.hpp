/// \file
/// What a program's kernels take of a GPU, by their machine code: a table of evidence that needs no GPU. It measures nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/emit/text/program_text.hpp"
#include "cuda/cubin.hpp"
#include "cuda/gpu.hpp"
#include "cuda/occupancy.hpp"

namespace etalon::cuda {

/// A kernel of a program as it is launched on a GPU.
struct KernelUse {
  CompiledKernel code;
  LaunchNeeds launch;
  double bytes = 0;       ///< that it reads and writes, each once
  double operations = 0;  ///< on reals, as the equations have them
  double occupancy = 0;   ///< of a multiprocessor's threads, see occupancy.hpp
  double launched = 0;    ///< threads over those of the chip
  double seconds = 0;     ///< no less, by the rates of memory and of arithmetic in f32
};

/// One per kernel of the program, in its order; before those whose sums are done in parts stands the kernel that makes these.
/// \param program lowered for `machine` (grid.hpp)
/// \param cubin machine code of the program's text
/// \throws SpecViolation where the machine code is none, or has not got a kernel of the program
[[nodiscard]] std::vector<KernelUse> uses_of(const compiled::source::ProgramText& program, std::string_view cubin, const Gpu& gpu);

/// Of all kernels together.
struct ProgramUse {
  double bytes = 0;
  double operations = 0;
  double seconds = 0;    ///< of one kernel after the other, no less
  double occupancy = 0;  ///< mean over those seconds
  double launched = 0;   ///< mean over those seconds, a kernel with threads enough for the chip being 1
};
[[nodiscard]] ProgramUse together(const std::vector<KernelUse>& uses);

/// Readable text: the GPU, then one line per kernel, then one for all.
[[nodiscard]] std::string to_text(const std::vector<KernelUse>& uses, const Gpu& gpu);

}  // namespace etalon::cuda
