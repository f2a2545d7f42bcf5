/// \file
/// CUDA C++ to PTX or to machine code by NVRTC, for a device that need not be there. It knows nothing of programs.
#pragma once

#include <string>
#include <string_view>

namespace etalon::cuda {

/// The virtual architecture that is compiled for where none is named: the oldest that every toolkit from 12 on knows and that has what the
/// text needs.
inline constexpr std::string_view default_architecture = "compute_80";

/// Whether this build has NVRTC.
[[nodiscard]] bool has_nvrtc();

/// Under which its image of a text for an architecture is kept (compiled/emit/kept_code.hpp): it depends on its version and options, too.
/// \throws Unsupported where this build has none
[[nodiscard]] std::string key_of_image(const std::string& text, std::string_view architecture);

/// The PTX of a text, without contraction of products and additions.
/// \throws Unsupported where this build has no NVRTC, SpecViolation for an unknown architecture, InternalError with the first of
/// what NVRTC says of the text, a warning too.
[[nodiscard]] std::string compile_to_ptx(const std::string& text, std::string_view architecture = default_architecture);

/// What becomes of a text for a real architecture.
struct MachineCode {
  std::string cubin;  ///< an ELF file (cubin.hpp)
  std::string ptx;    ///< that it was made from
};

/// Without contraction of products and additions.
/// \param architecture a real one, such as `sm_90`
/// \throws as compile_to_ptx, SpecViolation for a virtual architecture
[[nodiscard]] MachineCode compile_to_machine_code(const std::string& text, std::string_view architecture);

/// What a driver loads.
struct Image {
  std::string bytes;
  std::string architecture;  ///< `sm_90` of machine code, `compute_90` of PTX
};

/// The architecture of the image for a device of that compute capability, 10 major + minor: its own where NVRTC knows it, else the
/// nearest older one, as PTX. \throws Unsupported where there is none
[[nodiscard]] std::string image_architecture(int capability);

/// The image of a text for such a device, without contraction of products and additions. \throws as compile_to_ptx, Unsupported as image_architecture
[[nodiscard]] Image compile_for(const std::string& text, int capability);

}  // namespace etalon::cuda
