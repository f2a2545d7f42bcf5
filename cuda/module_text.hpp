/// \file
/// What a device gets of a program: one text with its kernels, and with what each of them is launched. It knows no device.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/ir/script.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

/// A kernel of the text; several may be one there (shared_kernels.hpp). Its parameters are pointers to the launch's operands, in their order.
struct KernelEntry {
  std::string name;
  Grid grid;
};

struct ModuleText {
  std::string text;                  ///< CUDA C++ (cuda_file.hpp)
  std::vector<KernelEntry> kernels;  ///< those of the plan, then those that make parts of them (split.hpp)
  compiled::Script script;           ///< the compiler's, with launches of these, whose partial results lie in the arena behind all else
  std::vector<std::size_t> output_bytes;  ///< of each output
};

/// \param made lowered for `machine` (grid.hpp), without updates in place: all inputs and outputs are memory of the caller's, constants too
[[nodiscard]] ModuleText module_text(const compiled::Compilation& made);

}  // namespace etalon::cuda
