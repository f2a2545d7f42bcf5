/// \file
/// The schedule of a contraction as lines, `tile rows=12 columns=32 …` and so on: those that say how it runs, and those that say
/// why. They are called as kinds of decisions are (decision_list.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/ir/line_reader.hpp"
#include "compiled/ir/schedule.hpp"

namespace etalon::compiled::loops {

[[nodiscard]] std::vector<std::string> schedule_lines(const Schedule& schedule);

/// Gives the next line, which begins with that word; null where it does not. \throws SpecViolation where it must.
using NextLine = std::function<const TextLine*(std::string_view word, bool must)>;

/// Reads what `schedule_lines` says. \throws SpecViolation as the reader of lines does
void read_schedule(Schedule& schedule, const KnownNames& known, const NextLine& next);

}  // namespace etalon::compiled::loops
