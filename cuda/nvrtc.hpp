/// \file
/// CUDA C++ to PTX by NVRTC, for a device that need not be there. It knows nothing of programs.
#pragma once

#include <string>
#include <string_view>

namespace etalon::cuda {

/// The virtual architecture that is compiled for where none is named: the oldest that every toolkit from 12 on knows and that has what the
/// text needs.
inline constexpr std::string_view default_architecture = "compute_80";

/// Whether this build has NVRTC.
[[nodiscard]] bool has_nvrtc();

/// The PTX of a text, without contraction of products and additions.
/// \throws Unsupported where this build has no NVRTC, SpecViolation for an unknown architecture, InternalError with the first of
/// what NVRTC says of the text, a warning too.
[[nodiscard]] std::string compile_to_ptx(const std::string& text, std::string_view architecture = default_architecture);

}  // namespace etalon::cuda
