/// \file
/// Results that nobody reads again are stored around the caches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled::loops {

/// An ordinary store first brings the line that it writes into a cache, and pushes another out. Where a result will not stay
/// in the caches anyway, that is memory traffic for nothing, and its stores go around them (Store::streamed).
///
/// The rule, for kernel number `kernel` of the plan. The tensor is an output in memory of the caller's own (not an input that
/// is updated in place), has at least a sixteenth of the last-level cache, and no equation reads it. What this kernel and
/// those after it visit is at least twice the last-level cache: half of the result or more is pushed out before the program
/// ends. The kernel waits for memory: its loops in lanes compute no functions (exp, tanh, …), behind which the caches' own
/// writing hides. The stores are whole vectors, without conditions, in rows that are whole lines.
///
/// A caller who reads the result at once finds none of it in a cache; with ordinary stores he would find, of a result just
/// above the limit, the part that was written last. No bit changes.
/// \param last_cache bytes of the last-level cache
/// \throws InternalError as `verify`.
void stream_results(const spec::System& system, const Plan& plan, std::int64_t last_cache, std::size_t kernel, Nest& nest);

}  // namespace etalon::compiled::loops
