/// \file
/// Results that nobody reads again are stored around the caches.
#pragma once

#include <cstddef>

#include "compiled/loops/nest.hpp"
#include "compiled/plan/plan.hpp"
#include "compiled/schedule/machine.hpp"

namespace etalon::compiled::loops {

/// An ordinary store first brings the line that it writes into a cache, and pushes another out. Where a result will not stay
/// in the caches anyway, that is memory traffic for nothing, and its stores go around them (Store::streamed).
///
/// The rule, for kernel number `kernel` of the plan. The tensor is an output in memory of the caller's own (not an input that
/// is updated in place), and no equation reads it. It is larger than the second-level cache, and what this kernel and those
/// after it visit fills the last-level cache: its first elements are pushed out before the program ends. Its stores are
/// whole vectors, without conditions, in rows that are whole lines.
///
/// A caller who reads the result at once finds none of it in a cache; with ordinary stores he would find, of a result just
/// above the limit, the part that was written last. No bit changes.
/// \throws InternalError as `verify`.
void stream_results(const spec::System& system, const Plan& plan, const Machine& machine, std::size_t kernel, Nest& nest);

/// Whether a store in this lanes loop may go around the caches: all of it whole vectors, each of them within lines.
[[nodiscard]] bool may_stream(const spec::System& system, const Loop& lanes, const Store& store);

}  // namespace etalon::compiled::loops
