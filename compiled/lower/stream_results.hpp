/// \file
/// Results that nobody reads again are stored around the caches.
#pragma once

#include <cstdint>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/plan.hpp"

namespace etalon::compiled::loops {

/// An ordinary store first brings the line that it writes into a cache, and pushes another out. Where a result will not stay
/// in the caches anyway, that is memory traffic for nothing, and its stores go around them (Store::streamed).
///
/// What may be stored so, in kernels of plain loops: an output in memory of the caller's own (not an input that is updated in
/// place) that no equation reads, by stores of whole vectors, without conditions, in rows that are whole lines. Each such
/// result is a decision.
///
/// What costs say. The tensor has at least a sixteenth of the last-level cache. What its kernel and those after it visit is
/// at least twice the last-level cache: half of the result or more is pushed out before the program ends. The kernel waits
/// for memory: its loops in lanes compute no functions (exp, tanh, …), behind which the caches' own writing hides.
///
/// A caller who reads the result at once finds none of it in a cache; with ordinary stores he would find, of a result just
/// above the limit, the part that was written last. No bit changes.
/// \param last_cache bytes of the last-level cache
/// \param nests one per kernel of the plan
/// \throws InternalError as `verify`.
void stream_results(const spec::System& system, const Plan& plan, std::int64_t last_cache, std::vector<Nest>& nests, Deciding& deciding);

}  // namespace etalon::compiled::loops
