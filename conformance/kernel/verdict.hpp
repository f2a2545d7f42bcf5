/// \file
/// The verdict on a kernel, as JSON (docs/kernel-verdict.schema.json) and for people. It asks nobody.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/kernel/program.hpp"
#include "conformance/kernel/trial.hpp"

namespace etalon::conformance {

enum class KernelFinding : std::uint8_t {
  conforms,   ///< every answer is one that the equations and the contract admit
  wrong,      ///< an answer is none of these, or no answer
  crashed,    ///< its process ended
  timeout,    ///< no answer in time
  undecided,  ///< in an element type nothing was compared that says what is computed
  not_built   ///< the compiler made nothing of it, or it could not be loaded
};
inline constexpr std::array<std::string_view, 6> kernel_finding_names{"conforms", "wrong", "crashed", "timeout", "undecided", "not built"};
[[nodiscard]] constexpr std::string_view name_of(KernelFinding finding) { return kernel_finding_names[static_cast<std::size_t>(finding)]; }

/// What was judged, by whom, and what came of it.
struct KernelVerdict {
  KernelSource source;
  std::string text;     ///< of the kernel
  std::string made_by;  ///< compiler or interpreter
  TrialOptions options;
  std::string contract;  ///< as it was named
  Limits limits;
  KernelFinding finding = KernelFinding::conforms;
  std::string complaint;  ///< why it was not built
  Trial trial;
  double build_seconds = 0, answer_seconds = 0, seconds = 0;
  std::string again;  ///< the command that asks the same questions
};

/// What a trial says of a kernel that was built.
[[nodiscard]] KernelFinding finding_of(const Trial& trial);

/// 0 for a kernel that conforms, else 1.
[[nodiscard]] int exit_status(const KernelVerdict& verdict);

/// One object, with the line's end.
void write_json(std::ostream& out, const KernelVerdict& verdict);
void write_text(std::ostream& out, const KernelVerdict& verdict);

}  // namespace etalon::conformance
