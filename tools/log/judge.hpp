/// \file
/// One log held to its own equations. It knows nothing of the other log.
#pragma once

#include "tools/log/diff.hpp"
#include "tools/log/log.hpp"

namespace etalon::logging {

/// Every assignment, each on the operands that the log holds, by the contract of the log.
/// \throws SpecViolation where an assignment would take too long.
[[nodiscard]] Judged judge(const Log& log);

}  // namespace etalon::logging
