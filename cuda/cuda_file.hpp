/// \file
/// A program as one text in CUDA C++: one `__global__` function per kernel, and the launches as a comment. It writes text; it
/// compiles nothing and touches no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "compiled/emit/text/program_text.hpp"

namespace etalon::cuda {

/// How a kernel's outermost loops are shared among threads.
struct Grid {
  std::size_t loops = 0;      ///< from the outermost on; none: one thread does it all
  std::int64_t elements = 1;  ///< values of these loops' variables together: no more threads than that have work
  std::int64_t blocks = 1;    ///< of `threads` threads, each of which takes every so many-th element
  std::int64_t threads = 1;
};

/// Decides by form: a loop is shared where different values of its variable touch different elements of everything that the
/// kernel writes.
[[nodiscard]] Grid grid_of(const compiled::source::ProgramText& program, const compiled::loops::Nest& nest);

/// The text. Reductions stay in one thread, term by term in the order of the loops, so that every run gives the same bits. Both
/// nvcc and NVRTC compile it.
[[nodiscard]] std::string cuda_file(const compiled::source::ProgramText& program);

}  // namespace etalon::cuda
