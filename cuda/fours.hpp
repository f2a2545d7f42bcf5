/// \file
/// Maps whose elements lie side by side wherever they are read and written: a thread has four neighbours at a time and moves them with one
/// instruction. It finds them by their index maps, which prove alignment; it writes nothing.
#pragma once

#include <optional>
#include <vector>

#include "compiled/ir/nest.hpp"

namespace etalon::cuda {

/// Neighbours that a thread has. Of 32-bit numbers they are as much as an instruction moves.
inline constexpr std::int64_t neighbours = 4;

/// What of a map comes and goes by fours; all else that it reads is the same for all four.
struct Fours {
  bool in_rows = false;             ///< turns of the innermost loop are a whole number of fours; else all elements lie in the order of turns
  std::vector<spec::Expr> reads{};
  std::vector<const compiled::loops::Store*> stores{};
};

/// Nothing where some element lies elsewhere, may not be there, is read where it is written, or where a quarter of the threads would leave a
/// chip idle. Memory begins at a multiple of 16 bytes.
[[nodiscard]] std::optional<Fours> fours_of(const spec::System& system, const compiled::loops::Nest& nest);

}  // namespace etalon::cuda
