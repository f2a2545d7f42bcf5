/// \file
/// Sums whose terms are sums of products, as derivatives of products are: each product becomes a sum of its own.
#pragma once

#include "compiled/ir/schedule.hpp"

namespace etalon::compiled {

/// sum[k] (p + q) becomes sum[k] p + sum[k] q where every one of these is a contraction with a schedule: the same terms in
/// a tree of the same height. Equations that are part of a recurrence stay as they are.
void split_products(spec::System& system, const Machine& machine, const ScheduleOptions& options);

/// The same equation, a sum, over loops of its own.
[[nodiscard]] spec::Equation with_own_binders(spec::System& system, const spec::Equation& sum);

}  // namespace etalon::compiled
