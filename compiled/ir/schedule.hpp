/// \file
/// The decisions about a contraction: tiles, vectors, unrolling, packing, which loop threads share, and why. It is the
/// same for every emitter and generates no code.
///
/// Cost model. A tile of rows × columns numbers is added up in registers over the whole depth: per step of the depth it
/// loads `rows` numbers and columns / lanes vectors and does rows · columns / lanes multiplications with additions, so
/// the tile is as large as the registers allow and the rows are shared evenly among the tiles. A factor is copied into
/// panels, each of which a tile reads from beginning to end, when it cannot be read as it lies (an expression, another
/// type, columns that do not lie side by side), or when it is read often and from more places at once than caches and
/// page tables hold. A factor that is read like a window (windows.hpp) gives the rows: its elements are read one by one
/// where they lie, at most copied once with the zeros around them, and never once for each place of the window. As many row tiles as fit three quarters of the second-level cache use a panel of columns one after the
/// other; when not all panels fit that cache too, the next one is fetched meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/ir/contraction.hpp"
#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/depth.hpp"
#include "compiled/ir/fragment_adder.hpp"
#include "compiled/machine/machine.hpp"

namespace etalon::compiled {

/// How a factor lies in memory when tiles read it.
enum class Layout : std::uint8_t {
  in_place,  ///< as it is
  panels,    ///< copied: of a tile's width, the values of one step of the depth side by side
  rows,      ///< copied: each row with its depth side by side, rows at a distance that caches like
  margins    ///< copied: as it is, with the zeros around it that a window reads
};

/// As lines of decisions and of loops call them.
inline constexpr std::array<std::string_view, 4> layout_names{"in_place", "panels", "rows", "margins"};

/// Whether a factor is copied first, and why.
struct Packing {
  Layout layout = Layout::in_place;
  std::string reason;
  [[nodiscard]] bool packed() const { return layout != Layout::in_place; }
  [[nodiscard]] friend bool operator==(const Packing&, const Packing&) = default;
};

/// How the threads of a block of a grid share a tile: each has so many of its rows and columns, and all copy the factors of some steps
/// of the depth to memory that they share.
struct BlockTile {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t steps = 1;
  std::int64_t stages = 1;        ///< such pieces of the depth that shared memory holds at a time; with several, the next ones come while one is multiplied
  std::int64_t left_copied = 0;   ///< bytes that one asynchronous copy brings of the left factor; 0: each thread loads and stores its share
  std::int64_t right_copied = 0;
  [[nodiscard]] friend bool operator==(const BlockTile&, const BlockTile&) = default;
};

/// Pieces that shared memory holds at most: those of the largest tiles fit what a block may have of it.
inline constexpr std::int64_t most_stages = 4;

/// How one contraction runs. Rows and columns are positions among its equation's binders.
struct Schedule {
  std::size_t row = 0;
  std::size_t column = 0;
  unsigned lanes = 1;                         ///< columns in one vector
  std::int64_t tile_rows = 1;
  std::int64_t tile_columns = 1;              ///< a multiple of `lanes`
  std::int64_t unroll = 1;                    ///< steps of the depth in one turn of its innermost loop
  DepthWalk depth;                            ///< in which blocks of terms
  const TermAdder* adder = nullptr;           ///< what adds the terms of the depth's last loop at once; null: each is added by itself
  bool across = false;                        ///< finished elements are stored in vectors of rows
  std::int64_t shared_taps = 1;               ///< neighbouring steps that are written out and use a row's number while it is in a register
  std::int64_t side_by_side = 1;              ///< blocks of terms that are added up at the same time, each in sums of its own
  bool guards_taps = false;                   ///< the sum's guard is asked per step that is written out, not read from panels
  std::int64_t block_rows = 1;                ///< tiles of rows that use a panel of columns one after the other
  std::int64_t block_columns = 1;             ///< tiles of columns of one turn of the shared loop
  bool fetch_ahead = false;                   ///< tiles fetch the next panel of columns into the second cache
  bool columns_outside = false;               ///< the blocks of columns are the outer loop
  Packing left;
  Packing right;
  const FragmentAdder* fragments = nullptr;   ///< what adds the terms of a tile that a block shares, of some steps at once; null: threads by themselves
  std::optional<BlockTile> shared;            ///< among the threads of a block; nothing: a tile is one thread's, in vectors
  std::string reason;                         ///< of tiles and blocks
  [[nodiscard]] friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Loops of the depth that steps go through: all, but for one that an instruction takes at once.
[[nodiscard]] inline std::size_t loops_of_steps(const Schedule& schedule, std::size_t depth) { return schedule.adder == nullptr ? depth : depth - 1; }

/// Bytes in which the sums of a tile's blocks wait for others of their size; an element takes so many.
[[nodiscard]] std::size_t waiting_bytes(const Schedule& schedule, std::size_t element);

/// A copy of a factor that one turn after the other of the loop of the contraction that reads it makes for itself, so that it
/// stays near.
struct CopiedInTurns {
  std::size_t loop = 0;  ///< its position among the contraction's binders; the copy's own loop is its first
};

/// An equation of a kernel that runs strip by strip (strips.hpp). Those of one group follow each other.
struct Strip {
  std::size_t group = 0;
  std::int64_t rows = 1;            ///< of a strip, whole tiles
  std::int64_t tile_rows = 1;       ///< of the tiles of its contractions
  std::vector<std::size_t> shared;  ///< positions among its binders: the outer loops of the group, and last that of the rows
  spec::Expr wanted{};              ///< may be empty: of a contraction, an inequality between its binders; elements where it fails are read by nobody
};

/// What becomes of an equation: its schedule, or why it has none.
struct Decision {
  std::optional<Schedule> schedule;
  bool packs = false;  ///< it copies a factor, in a kernel of its own unless it is done in turns
  std::optional<CopiedInTurns> in_turns;
  std::string reason;
  std::optional<spec::TensorId> in_passing{};  ///< parts of a sum over rows: added up by the kernel that writes this tensor (rewrite/passing.hpp)
  std::optional<Strip> strip{};
};

/// What a caller may vary.
struct ScheduleOptions {
  bool windows = true;       ///< false: they are copied for their tiles like other factors
  bool share_loads = true;   ///< false: every step of a window loads the numbers of its rows
  std::optional<std::int64_t> near_cache_bytes{};    ///< instead of what the machine says of its caches
  std::optional<std::int64_t> middle_cache_bytes{};
  std::optional<std::int64_t> last_cache_bytes{};
  bool pack = true;          ///< false: contractions whose factors would be copied run in plain loops
  bool lanes = true;         ///< false: elements of results are computed one by one in plain loops; sums keep the lanes that order their terms
  bool keep = true;          ///< false: parameters stay in row-major order (kept.hpp)
  bool always = false;       ///< also those for which plain loops are as fast
  std::optional<spec::Contract> promises{};  ///< of what programs compute; nothing: those of the shipped contract `cpu`
  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

/// What is given about one contraction; null where the cost model decides.
struct GivenTile {
  const DecisionLine* tile = nullptr;
  const DecisionLine* pack = nullptr;
  const DecisionLine* block = nullptr;
  const DecisionLine* steps = nullptr;
};
[[nodiscard]] GivenTile given_tile(const Deciding& deciding, const std::string& value);

/// Decides on a contraction of a system.
/// \throws SpecViolation for what is given and cannot be.
[[nodiscard]] Decision decide(const spec::System& system, const spec::Equation& equation, const Contraction& contraction,
                              const Machine& machine, const ScheduleOptions& options = {}, const GivenTile& given = {});

/// Registers that a tile's sums take, with what stands beside them.
[[nodiscard]] std::int64_t registers_of_tile(std::int64_t rows, std::int64_t vectors);

/// What a contraction's decision is as lines. \param blocks whether its blocks are its own and not a strip's
void take_tile(Deciding& deciding, const std::string& value, const std::optional<Schedule>& schedule, bool blocks);

/// Decides on every equation and adds the equations that pack, each before the contraction that reads the panels. Every
/// number keeps its bits.
/// \param strips one per equation (strips.hpp), or none
/// \returns one decision per equation of the new system.
/// \throws SpecViolation for a given tile that cannot be.
[[nodiscard]] std::vector<Decision> schedule_contractions(spec::System& system, const Machine& machine, const ScheduleOptions& options,
                                                          std::span<const std::optional<Strip>> strips, Deciding& deciding);

/// One line.
[[nodiscard]] std::string to_text(const Schedule& schedule);

}  // namespace etalon::compiled
