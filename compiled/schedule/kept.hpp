/// \file
/// Parameters that stay in the layout in which tiles read them: what a program reads in panels at every run need not be
/// copied into panels at every run, when it is kept so between them. It decides by the form of the equations and moves
/// no bytes.
///
/// Cost rule. A parameter that a contraction copies into panels (schedule.hpp) is kept in them where its axis holds whole
/// panels and everything that reads or computes it can go along: the tensors of its size that its update meets element by
/// element (state of the optimizer, gradient) lie in the same panels, so that the update runs from beginning to end as
/// before; contractions read and write panels as they lie. Where the update is so small that it rides along with the
/// contraction that gives the gradient, keeping panels would cost that ride, and the parameter stays as it is. Of two
/// contractions that read it along different axes, the one whose copy would transpose it is served.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiled/ir/panels.hpp"
#include "compiled/ir/schedule.hpp"
#include "spec/system/system.hpp"

namespace etalon::compiled {

/// An input in memory that may hold it in panels, and the output, if any, that is its next value in the same memory.
struct KeptInput {
  std::size_t input = 0;
  std::optional<std::size_t> output;
};

/// How a kept input lies and why.
struct KeptLayout {
  std::optional<Panels> panels;
  std::string reason;
};

/// The layouts of a system: one per kept input in their order, and one per tensor.
struct Layouts {
  std::vector<KeptLayout> kept;
  std::vector<std::optional<Panels>> tensors;
};

/// The layouts that are worth having.
[[nodiscard]] Layouts choose_layouts(const spec::System& system, const Machine& machine, const ScheduleOptions& options,
                                     std::span<const KeptInput> kept, const Deciding& deciding);

/// How each kept input lies, as decisions.
void take_layouts(Deciding& deciding, const spec::System& system, std::span<const KeptInput> kept, const Layouts& layouts);

/// The layouts of the other tensors when the kept inputs lie as somebody else decided. Any are possible, not all are fast.
/// \param given one per kept input; panels are whole.
[[nodiscard]] Layouts follow_layouts(const spec::System& system, std::span<const KeptInput> kept, std::span<const std::optional<Panels>> given);

/// Rewrites the system for tensors that lie so: they get the axes of their memory. Every number keeps its bits.
void lay_out(spec::System& system, const std::vector<std::optional<Panels>>& tensors);

/// Whether the equation computes each element of its target from elements of the same place and others, without a sum:
/// its place is its binders.
[[nodiscard]] bool is_elementwise(const spec::Equation& equation);

/// How a kept input in panels lies and why: `panels of 32 along axis 0: its contraction reads it so`.
[[nodiscard]] std::string layout_text(const KeptLayout& layout);

/// One line per kept input.
[[nodiscard]] std::string to_text(const spec::System& system, std::span<const KeptInput> kept, const Layouts& layouts);

}  // namespace etalon::compiled
