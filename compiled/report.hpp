/// \file
/// What was made of a program, for people and scripts: kernels, bytes, times, and what became of each value and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiled/ir/decision_list.hpp"

namespace etalon::compiled {

/// What becomes of a value (docs/requests.md).
enum class Keeping : std::uint8_t {
  inlined,  ///< it has no memory: its expression stands where it is read
  local,    ///< a kernel computes it for itself, in a register or in memory of one iteration
  stored,   ///< in the arena of intermediates
  shared    ///< in memory of the host: an input, a parameter, an output
};

/// `inlined`, `local`, `stored` or `shared`.
[[nodiscard]] std::string_view name_of(Keeping keeping);

struct ValueReport {
  std::string name;
  Keeping keeping = Keeping::inlined;
  std::size_t bytes = 0;   ///< of memory that it takes; 0 where it has none
  std::string where;       ///< such as `arena [0, 256)`; empty where it has none
  std::string reason;      ///< the rule that decided, or what was asked for
  std::string source;      ///< the user's line and section that made it, such as `net.cpp:12, section "w step"`; empty where unknown
  std::string layout{};    ///< of a parameter in panels: how and why, such as `panels of 32 along axis 0: its contraction reads it so`; else empty
  std::string request;     ///< what the program asks of the value, such as `stored h at net.cpp:3`; empty where nothing
};

/// Each tensor in memory that the kernel touches counts once, and no element more often than it is read or written.
struct KernelReport {
  std::string name;              ///< of the last value that it computes
  std::size_t read_bytes = 0;
  std::size_t written_bytes = 0;
  double operations = 0;         ///< scalar operations, roughly
  std::string reason;            ///< why it is a kernel of its own
};

/// What was made.
struct Report {
  std::size_t kernels = 0;
  std::size_t shared_kernels = 0;  ///< whose work threads share where there are several
  std::size_t arena_bytes = 0;     ///< intermediates, and what threads have of their own beyond their stacks. Runs and derivatives share it: the most that one of those made so far needs
  std::size_t stack_bytes = 0;     ///< of all threads' stacks, by the kernels
  std::size_t input_bytes = 0;     ///< parameters, inputs, constants
  std::size_t output_bytes = 0;    ///< outputs that are in no parameter's place
  /// What a run holds at most: a run takes no memory besides.
  [[nodiscard]] std::size_t peak_bytes() const { return arena_bytes + stack_bytes + input_bytes + output_bytes; }
  double passes_seconds = 0;
  double codegen_seconds = 0;
  bool cached = false;             ///< the code was read from the cache
  std::vector<std::pair<std::string, double>> stages;  ///< seconds of each pass and stage, in order
  std::vector<KernelReport> kernel_reports;            ///< in the order in which they run
  std::vector<DecisionLine> decisions;  ///< that were taken: given to another compilation of the program for the same machine, they make the same loops
  std::vector<ValueReport> values;  ///< inputs first; those that no pass knows of before the schedule come last. Filled with `CompileOptions::explain` or a dump
};

}  // namespace etalon::compiled
