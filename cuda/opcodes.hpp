/// \file
/// What instructions machine code of NVIDIA's is made of, for those that say how a kernel spends its time. It knows no file.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace etalon::cuda {

/// How often instructions stand in a kernel, whatever loops do: by name, with the bits that one thread moves for those that move some, as in
/// `FFMA` and `LDG.128`. Those that are not in the table are not listed.
struct InstructionCounts {
  std::size_t all = 0;  ///< without what only fills up
  std::map<std::string, std::size_t, std::less<>> named{};

  /// Of all widths. \param name without one
  [[nodiscard]] std::size_t of(std::string_view name) const;
};

/// \param code instructions of 128 bits, as from compute capability 7.0 on; what is left of the last one is not looked at
[[nodiscard]] InstructionCounts instructions_in(std::string_view code);

}  // namespace etalon::cuda
