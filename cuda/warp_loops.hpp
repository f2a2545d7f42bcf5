/// \file
/// Kernels in which tiles stand among other steps, such as strips of rows: which of their loops are shared among a block's warps, so that
/// nobody waits for other warps within a turn.
#pragma once

#include "compiled/ir/nest.hpp"

namespace etalon::cuda {

/// Whether a turn of the grid's loops has tiles and other steps besides.
[[nodiscard]] bool has_tiles_among_steps(const compiled::loops::Nest& nest);

/// Whether a loop of such a turn has no tiles itself and is no loop in lanes, and none of its turns touches what another one writes.
[[nodiscard]] bool is_of_warps(const spec::System& system, const compiled::loops::Nest& nest, const compiled::loops::Loop& loop);

}  // namespace etalon::cuda
