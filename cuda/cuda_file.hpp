/// \file
/// A program as one text in CUDA C++: one `__global__` function per kernel, and the launches as a comment. It writes text; it
/// compiles nothing and touches no device.
#pragma once

#include <string>

#include "compiled/emit/text/program_text.hpp"

namespace etalon::cuda {

/// The text. Reductions stay in one thread, term by term in the order of the loops, so that every run gives the same bits. Both
/// nvcc and NVRTC compile it.
/// \param program lowered for `machine` (grid.hpp)
[[nodiscard]] std::string cuda_file(const compiled::source::ProgramText& program);

}  // namespace etalon::cuda
