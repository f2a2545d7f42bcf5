/// \file
/// Which copies of factors are made piece by piece inside the contraction that reads them.
#pragma once

#include <vector>

#include "compiled/ir/schedule.hpp"

namespace etalon::compiled {

/// Decides on each equation that copies a factor for its tiles: where a single contraction reads it, and each turn of one of
/// its loops outside of tiles reads a piece that no other turn does, that turn makes the piece. The piece is still in a near
/// cache when it is read, and the copy as a whole is never stored. The values are the same.
void copy_in_turns(const spec::System& system, std::vector<Decision>& decisions, Deciding& deciding);

}  // namespace etalon::compiled
