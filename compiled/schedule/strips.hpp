/// \file
/// Chains of equations over wide values that run strip by strip: a kernel computes some rows of the values, uses them, and
/// forgets them. It decides which equations and how many rows; it lowers nothing.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiled/ir/schedule.hpp"

namespace etalon::compiled {

/// Groups the readers of each wide family (wide.hpp): those of one group run over strips of one long axis, the outer axes
/// around it, and each group computes what it reads of the family for itself, in tensors of its own whose rows lie along that
/// axis. A reader joins a group where everything else that it needs is there before the group, or is computed by the group for
/// the same row. Equations of a group follow each other; what nobody reads any more is gone. On a grid a strip is a block's: one tile of rows, as
/// many as memory that the block shares holds.
/// \returns one entry per equation of the new system.
[[nodiscard]] std::vector<std::optional<Strip>> form_strips(spec::System& system, const Machine& machine, const ScheduleOptions& options,
                                                             Deciding& deciding);

/// The schedule of a contraction of a group: its tiles fit the strips, and what it reads of them is read where it lies.
/// \param written what equations of the group before it compute
/// \returns why it runs in plain loops instead; empty where it does not.
[[nodiscard]] std::string fit_strips(const spec::System& system, Schedule& schedule, const Strip& strip, const spec::Equation& equation,
                                     const Contraction& contraction, const std::unordered_set<spec::TensorId>& written);

}  // namespace etalon::compiled
