/// \file
/// What the system says of the machine that it runs on.
#pragma once

#include "tools/bench/record.hpp"

namespace etalon::bench {

/// Fields that the system does not tell are empty or say so. The load before is the one now.
[[nodiscard]] Machine this_machine();

/// Processes that wanted to run, averaged over a minute; negative where the system does not say.
[[nodiscard]] double load_average();

/// The time now as `2026-01-31 12:00 UTC`.
[[nodiscard]] std::string date_now();

}  // namespace etalon::bench
