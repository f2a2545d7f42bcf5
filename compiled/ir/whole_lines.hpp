/// \file
/// Stores that write whole lines of a cache. It decides nothing.
#pragma once

#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// Whether a store in this lanes loop may go around the caches: all of it whole vectors, each of them within lines.
[[nodiscard]] bool may_stream(const spec::System& system, const Loop& lanes, const Store& store);

}  // namespace etalon::compiled::loops
