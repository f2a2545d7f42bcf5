/// \file
/// Who takes the turns of each loop. It changes no step.
#pragma once

#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled::loops {

/// Binds the loops of kernel number `kernel`: the outermost one to the cores of a processor; on a device of many threads each one from
/// the outermost on whose turns are apart, as long as they stand alone in each other; short loops of reductions are unrolled.
void bind(const spec::System& system, const Plan& plan, const Machine& machine, std::size_t kernel, Nest& nest);

}  // namespace etalon::compiled::loops
