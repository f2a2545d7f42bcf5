/// \file
/// What PTX holds that is not what IEEE 754 defines or not the same on every run. It reads text and compiles nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::cuda {

/// An instruction that is conspicuous.
struct PtxFinding {
  enum class Kind {
    approximate,  ///< `.approx`, or `div.full`: an error that depends on the device
    flushing,     ///< `.ftz`: numbers below the normal ones are taken for zero
    unordered     ///< `atom` or `red` on reals: the order of additions is that of threads
  };
  Kind kind = Kind::approximate;
  std::string function;     ///< the kernel or function that it stands in
  std::string instruction;  ///< its name with all suffixes, as in `ex2.approx.ftz.f32`
  std::size_t line = 0;     ///< from 1
  friend bool operator==(const PtxFinding&, const PtxFinding&) = default;
};

/// In the order of the text; an instruction has as many as apply.
[[nodiscard]] std::vector<PtxFinding> findings_in_ptx(std::string_view ptx);

}  // namespace etalon::cuda
