/// \file
/// CUDA C++ as C++ of the host's: what stands before a text, and behind it, so that a compiler that knows no GPU takes it. It compiles
/// nothing.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::cuda::emulator {

/// The kernels that a text defines, in its order: what follows `__global__ void`.
[[nodiscard]] std::vector<std::string> kernels_in(std::string_view text);

/// Whether threads of a text wait for each other, or for what goes on beside them.
[[nodiscard]] bool has_waiting_threads(std::string_view text);

/// The symbol of a function `ThreadState *()`: where all kernels find theirs.
inline constexpr const char* state_symbol = "et_emulated_state";
/// The symbol of a function `void (void *const *values)` that calls a kernel of the n-th text with values of its parameters' types, which
/// the pointers point to, as cuLaunchKernel takes them.
[[nodiscard]] std::string caller_symbol(std::size_t text, std::string_view kernel);

/// All texts as one in C++17, each as it is but for `extern __shared__ T name[];`, which becomes a pointer to the block's memory: it has no
/// size that a linker could give it.
/// \param told whether the code is compiled so that it tells its accesses to memory
/// \throws SpecViolation for shared memory of another form
[[nodiscard]] std::string host_text(std::span<const std::string> texts, bool told = false);

}  // namespace etalon::cuda::emulator
