/// \file
/// Factors of tiles that a block's threads share come to memory of theirs by asynchronous copies.
#pragma once

#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/nest.hpp"

namespace etalon::compiled::loops {

/// A tile's factors come to shared memory piece by piece, some steps of the depth each. A thread that loads its share and stores it there
/// has it in registers meanwhile, and all threads wait twice for each piece. A device that copies past registers (BlockTile) needs neither:
/// it is asked for pieces that come later while one is multiplied.
///
/// What can be copied so: a factor that is an element of a tensor, which lies in memory as the tile needs it, whose terms all count, and
/// which nobody writes in the same kernel. Sixteen bytes go at once where the elements lie side by side the way they do in shared memory,
/// no other index leads to an address that is no multiple of sixteen bytes, and none of a copy's elements is outside of the tile where
/// another is inside; else one element, if it has four or eight bytes. The other factor may still go through registers.
///
/// Each kernel with tiles of several pieces is a decision, `copy`: two stages, which is what registers and one piece held before, or as
/// many as are given. Kernels with memory of their own (strips) stay as they are: they need it for rows. No bit changes.
/// \throws SpecViolation for a given decision that cannot be; InternalError as `verify`.
void copy_factors(const spec::System& system, std::vector<Nest>& nests, Deciding& deciding);

}  // namespace etalon::compiled::loops
