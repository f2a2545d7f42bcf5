/// \file
/// The one list: every stage from a system of equations to machine code, in order. compile.cpp is read top to bottom; no stage
/// runs outside of it; run_stages.cpp runs them. It knows neither programs nor LLVM.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/machine/machine.hpp"
#include "compiled/options.hpp"
#include "compiled/report.hpp"
#include "compiled/reporting.hpp"
#include "compiled/schedule/kept.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

class CodeGenerator;

/// The inputs that may lie in panels.
struct Kept {
  std::vector<KeptInput> inputs;
  std::optional<std::vector<std::optional<Panels>>> given;  ///< how each lies; nothing: it is chosen
};

/// What a stage leaves. A level has one printer and one verifier, for all of its stages.
enum class Level : std::uint8_t {
  equations,  ///< the system alone
  plan,       ///< and in which kernels its equations are, where each value lives, and why
  loops,      ///< and each kernel as loops, and what the host does to run them
  llvm,       ///< and their intermediate code
  assembly    ///< and their machine code
};
inline constexpr std::size_t levels = 5;

/// `equations`, `plan`, `loops`, `llvm`, `asm`.
[[nodiscard]] std::string_view name_of(Level level);

/// What stages hand on. Each stage finds it sound and leaves it sound.
struct Compilation {
  spec::System system;
  CompileOptions options;
  Machine machine;
  Kept kept;

  std::size_t outputs = 0;                      ///< of the system; while equations are rewritten others stand behind them
  Layouts layouts{};                            ///< one per kept input, as it lies; and per tensor
  std::vector<std::optional<Strip>> strips{};   ///< one per equation, or none
  std::vector<Decision> decisions{};            ///< one per equation, or none
  Deciding deciding{};                          ///< the decisions that are given, and those that were taken
  Plan plan{};
  std::vector<loops::Nest> nests{};             ///< `nests[k]` is kernel k of the plan
  Script script{};                              ///< once loops are as they stay
  CodeGenerator* generator = nullptr;           ///< whoever makes machine code of the loops; none: the stages of code do nothing

  std::optional<ValueHistory> history{};        ///< with options.explain or a dump
  std::vector<ValueReport> values{};            ///< the same
  std::vector<std::pair<std::string, double>> seconds{};  ///< of each stage that ran, in order
  std::array<double, levels> spent{};                      ///< the same by what stages leave
  std::size_t next = 0;                                   ///< the stage that comes next
};

/// A decision within a stage that may be left out by name.
struct Choice {
  std::string_view name;
  std::string_view what;
  void (*leave_out)(CompileOptions&);
  bool orders_sums = false;  ///< without it sums are added in another order
};

struct Stage {
  std::string_view name;  ///< a name may stand twice; a switch concerns every occurrence
  std::string_view what;  ///< one line
  void (*run)(Compilation&);
  Level leaves;
  bool required = false;     ///< later stages rely on it, so that it cannot be left out
  bool orders_sums = false;  ///< without it sums are added in another order, or products are rounded before they are added
  std::string_view serves{}; ///< the stage or choice without which it is left out too
  std::span<const Choice> choices{};
  std::string (*print)(const Compilation&) = nullptr;  ///< where there is more to say than the level has
};

/// All stages, in the order in which they run.
[[nodiscard]] std::span<const Stage> stages();

/// Whether a stage or a choice is left out.
[[nodiscard]] bool is_off(const CompileOptions& options, std::string_view name);

/// A system before the first stage. \param updates as in PlanOptions
/// \throws SpecViolation naming the nearest stage for an unknown name in `off` or `dump_after`, for a required stage that is to be left out, and
/// for wishes that exclude each other or cannot be.
[[nodiscard]] Compilation begin(spec::System system, const CompileOptions& options, const Machine& machine,
                                const std::vector<PlanOptions::Update>& updates = {}, const Kept& kept = {});

/// Runs the stages from the one after those that ran already to the last one of `level`.
/// \throws InternalError naming the stage after which something is ill-formed.
void run(Compilation& compilation, Level level);

/// Both, as far as loops.
[[nodiscard]] Compilation lower_to_loops(spec::System system, const std::vector<PlanOptions::Update>& updates,
                                         const CompileOptions& options, const Machine& machine, const Kept& kept = {});

}  // namespace etalon::compiled
