/// \file
/// Plans for tests, each of which has shown that it computes what its system says.
#pragma once

#include "compiled/ir/plan.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// A checked plan whose execution gives the bits of the equations, updates included.
compiled::Plan checked_plan(const spec::System& system, const compiled::PlanOptions& options = {});

}  // namespace etalon::test
