/// \file
/// Contractions whose terms an instruction takes several at once: their depth is cut for it. It copies nothing.
#pragma once

#include "compiled/ir/contraction.hpp"
#include "compiled/ir/schedule.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// Where an instruction adds several terms of this contraction at once within what is promised: cuts the last loop of its depth into
/// turns of as many terms, the last turn filled up with zeros. One with a guard, with no more terms
/// than that or with a factor that a window slides over stays as it is.
void take_together(spec::System& system, const spec::Equation& equation, Contraction& c, const Machine& machine, const ScheduleOptions& options);

}  // namespace etalon::compiled
