#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "compiled/ir/access.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/schedule.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

/// One factor as the tiles would read it.
struct Factor {
  const Expr& value;
  const Binder& along;     ///< the row or the column
  std::int64_t tiles = 1;  ///< tiles of the other factor that read it again
  bool vectors = false;    ///< read in vectors along `along`
};

class Decider {
 public:
  Decider(const System& system, const Equation& equation, const Contraction& c, const Machine& machine, const ScheduleOptions& options,
          const GivenTile& given)
      : system_(system), equation_(equation), c_(c), machine_(machine), options_(options), given_(given), depth_(points_of(c.depth)) {
    s_.adder = c.adder;
    s_.depth = walk(c.depth, c.adder != nullptr);
    if (options.windows) window_ = as_window(system, equation, c, c.left);
    s_.guards_taps = c.guard.valid() && window_.has_value() && guards_taps(equation, c, s_.depth);
  }

  Decision run() {
    if (std::string why = why_not(); !why.empty()) return {std::nullopt, false, std::nullopt, "a contraction in plain loops: " + why};
    choose_tile();
    if (is_followed(given_.tile)) follow_tile(*given_.tile);
    s_.unroll = s_.tile_rows * vectors() >= threshold("sums_of_a_full_turn") ? 1 : threshold("steps_of_a_short_turn");
    s_.left = window_ ? of_window() : packing({c_.left, row(), parts(column().extent, s_.tile_columns), false});
    s_.right = packing({c_.right, column(), parts(row().extent, s_.tile_rows), true});
    if (c_.guard.valid() && !s_.guards_taps) s_.right = {Layout::panels, "beside a panel that says which terms count"};
    if (is_followed(given_.pack)) follow_pack(*given_.pack);
    if (!options_.pack && (s_.left.packed() || s_.right.packed())) return {std::nullopt, false, std::nullopt, "a contraction in plain loops: its factors would be copied"};
    if (too_many_axes()) return {std::nullopt, false, std::nullopt, "a contraction in plain loops: its panels would have too many axes"};
    choose_blocks();
    if (is_followed(given_.block)) follow_block(*given_.block);
    s_.shared_taps = share_taps();
    s_.side_by_side = blocks_side_by_side();
    if (s_.side_by_side > 1) s_.unroll = 1;
    if (is_followed(given_.steps)) follow_steps(*given_.steps);
    if (machine_.is_grid()) share_tile();
    return {s_, false, std::nullopt, {}};
  }

 private:
  const Binder& row() const { return equation_.binders[c_.row]; }
  const Binder& column() const { return equation_.binders[c_.column]; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_of(c_.type)); }
  std::int64_t held_size() const { return static_cast<std::int64_t>(size_of(c_.held())); }
  std::int64_t vectors() const { return s_.tile_columns / s_.lanes; }

  std::string why_not() const {
    if (machine_.lanes_f32 < 4) return "the machine has no vectors";
    const std::int64_t lanes = order_lanes_f32 * 4 / size();
    if (given_.tile != nullptr) return given_.tile->is("off") ? "as given" : "";
    if (options_.always) return {};
    if (row().extent < (window_ ? threshold("least_window_rows") : threshold("least_rows"))) return fmt::format("only {} rows", row().extent);
    if (column().extent < lanes / 2) return fmt::format("only {} columns for vectors of {}", column().extent, lanes);
    const double products = static_cast<double>(row().extent) * static_cast<double>(column().extent) * static_cast<double>(depth_);
    if (products < (window_ ? threshold<double>("least_window_products") : threshold<double>("least_products"))) return fmt::format("only {} products", products);
    return {};
  }

  /// How threads of a grid share a tile follows from its sizes: what is given about that must be what was decided (Deciding::take).
  bool is_followed(const DecisionLine* line) const { return line != nullptr && !machine_.is_grid(); }

  void choose_tile() {
    s_.row = c_.row;
    s_.column = c_.column;
    s_.lanes = machine_.lanes_f32 * 4 / static_cast<unsigned>(size());
    const std::int64_t vectors = std::min(threshold("tile_vectors"), parts(column().extent, s_.lanes));
    const std::int64_t registers = machine_.vector_registers - vectors - threshold("registers_beside_sums");
    const std::int64_t most = std::min(registers / vectors, threshold("most_tile_rows"));
    s_.tile_columns = vectors * s_.lanes;
    s_.tile_rows = parts(row().extent, parts(row().extent, most));
    const loops::Affine stored = loops::element_number(equation_.place, system_[equation_.target].dims);
    s_.across = stored.coefficient(row().variable) == 1 && stored.coefficient(column().variable) != 1;
  }

  void follow_tile(const DecisionLine& line) {
    const std::int64_t rows = line.number("rows", 1, row().extent);
    const std::int64_t columns = line.number("columns", 1, std::numeric_limits<int>::max());
    if (columns % s_.lanes != 0) line.refuse(fmt::format("columns are whole vectors of {}, found {}", s_.lanes, columns));
    const std::int64_t registers = registers_of_tile(rows, columns / s_.lanes);
    if (registers > machine_.vector_registers) line.refuse(fmt::format("the tile takes {} registers, and there are {}", registers, machine_.vector_registers));
    s_.tile_rows = rows;
    s_.tile_columns = columns;
  }

  void follow_pack(const DecisionLine& line) {
    follow_layout(line, "left", s_.left, {c_.left, row(), 0, false});
    follow_layout(line, "right", s_.right, {c_.right, column(), 0, true});
  }

  void follow_layout(const DecisionLine& line, const char* side, Packing& packing, const Factor& f) const {
    const std::string_view wish = line.word(side);
    if (wish == layout_names[static_cast<std::size_t>(packing.layout)]) return;
    const bool window = !f.vectors && window_.has_value();
    const bool guarded = f.vectors && c_.guard.valid() && !s_.guards_taps;
    const std::optional<Packing> must = window || guarded ? packing : settled(f);
    if (must) line.refuse(fmt::format("the {} factor is {}: {}", side, layout_names[static_cast<std::size_t>(must->layout)], must->reason));
    const std::string_view copy = layout_names[static_cast<std::size_t>(copied(f))];
    if (wish != "in_place" && wish != copy) line.refuse(fmt::format("the {} factor may be in_place or {}, found '{}'", side, copy, wish));
    packing = {wish == copy ? copied(f) : Layout::in_place, "as given"};
  }

  void follow_block(const DecisionLine& line) {
    s_.block_rows = line.number("rows", 1, parts(row().extent, s_.tile_rows));
    s_.block_columns = line.number("columns", 1, parts(column().extent, s_.tile_columns));
    s_.columns_outside = line.word("outside") == "columns";
    s_.fetch_ahead = line.word("ahead") == "on";
    if (s_.fetch_ahead && (loops_of_steps(s_, c_.depth.size()) != 1 || !in_panels())) line.refuse("only panels along one loop are fetched ahead");
  }

  void follow_steps(const DecisionLine& line) {
    s_.side_by_side = line.number("side_by_side", 1, most_side_by_side());
    s_.shared_taps = line.number("shared", 1, most_shared_taps());
    s_.unroll = line.number("unroll", 1, s_.side_by_side > 1 ? 1 : longest_block);
    if (s_.side_by_side > 1 && blocks_of_a_turn() % s_.side_by_side != 0) line.refuse(fmt::format("{} blocks are no whole number of {}", blocks_of_a_turn(), s_.side_by_side));
  }

  /// Which contractions run in tiles is decided as for vectors, since it decides where products are rounded; how, is not. Tiles are as
  /// large as leaves every multiprocessor one.
  void share_tile() {
    const std::int64_t largest = size() == 4 ? largest_block_tile : largest_block_tile / 2;
    std::int64_t rows = tile_extent(row().extent, largest);
    std::int64_t columns = tile_extent(column().extent, largest);
    std::int64_t outer = 1;
    for (std::size_t b = 0; b < equation_.binders.size(); ++b) {
      if (b != c_.row && b != c_.column) outer *= equation_.binders[b].extent;
    }
    while (outer * parts(row().extent, rows) * parts(column().extent, columns) < machine_.multiprocessors && std::max(rows, columns) > 32) {
      (rows > columns ? rows : columns) /= 2;
    }
    s_.tile_rows = rows;
    s_.tile_columns = columns;
    const bool wide = std::min(rows, columns) == largest_block_tile;
    s_.shared = BlockTile{wide ? 16 : thread_extent(rows, largest), thread_extent(columns, largest), std::min<std::int64_t>(16, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(s_.depth.longest()))))};
    share_fragments();
    s_.lanes = 1;
    s_.unroll = s_.side_by_side = s_.shared_taps = s_.block_rows = s_.block_columns = 1;
    s_.fetch_ahead = s_.columns_outside = s_.across = false;
    s_.guards_taps = c_.guard.valid();
    s_.left = s_.right = {Layout::in_place, "copied to shared memory"};
    s_.reason = fmt::format("{} by {} of a tile for each of {} threads", s_.shared->rows, s_.shared->columns, rows / s_.shared->rows * (columns / s_.shared->columns));
  }

  /// Sums of an instruction's fragments are as many rows by as many columns of a thread; what a piece has too many steps for is zero.
  void share_fragments() {
    if (!options_.promises || c_.guard.valid()) return;
    const auto type = [&](const Expr& factor) { return factor.form() == Form::read ? system_[factor->tensor].dtype : c_.type; };
    s_.fragments = fragment_adder(c_.type, type(c_.left), type(c_.right), machine_, *options_.promises);
    if (s_.fragments != nullptr) s_.shared->steps = std::max(s_.shared->steps, s_.fragments->terms);
  }

  static constexpr std::int64_t largest_block_tile = 128;

  static std::int64_t tile_extent(std::int64_t extent, std::int64_t largest) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent))), 16, largest);
  }

  /// Of a tile's extent for one thread: as much as its registers hold, since shared memory is read for each row and each column anew.
  static std::int64_t thread_extent(std::int64_t tile, std::int64_t largest) { return tile >= largest_block_tile && largest == largest_block_tile ? 8 : tile >= 32 ? 4 : 2; }

  /// How many neighbouring steps read rows' numbers that the others read too, of which one register at a time keeps one: where
  /// rows and the innermost steps that are written out slide over one axis. Beside two vectors of columns a number is used twice
  /// anyway, and the columns of several steps take the registers of sums.
  std::int64_t share_taps() const { return options_.share_loads ? most_shared_taps() : 1; }

  std::int64_t most_shared_taps() const {
    if (!window_ || s_.depth.taps == c_.depth.size() || s_.tile_columns != s_.lanes) return 1;
    const spec::VariableId tap = c_.depth.back().variable;
    for (const Window::Axis& axis : window_->axes) {
      const loops::Affine at = loops::affine(axis.at);
      const std::int64_t along = at.coefficient(row().variable);
      const std::int64_t by = at.coefficient(tap);
      if (along == 0 && by == 0) continue;
      const bool slides = along != 0 && by != 0 && by % along == 0;
      return slides ? std::max<std::int64_t>(1, std::min(c_.depth.back().extent, machine_.vector_registers - 3 - s_.tile_rows)) : 1;
    }
    return 1;
  }

  /// How many blocks of terms fill the units that multiply and add, where the sums of one leave them waiting for each other.
  /// The blocks are of one size, and the last ones as many as the others.
  std::int64_t blocks_side_by_side() const {
    const std::int64_t sums = s_.tile_rows * vectors();
    if (sums >= threshold("sums_in_flight")) return 1;
    std::int64_t most = 1;
    for (std::int64_t n = 2; n <= most_side_by_side(); ++n) {
      if (blocks_of_a_turn() % n != 0) continue;
      most = n;
      if (n * sums >= threshold("sums_in_flight")) break;
    }
    return most;
  }

  /// Blocks into which the turns of one loop fall.
  std::int64_t blocks_of_a_turn() const { return parts(c_.depth[s_.depth.level].extent, s_.depth.turns); }

  /// So many have registers for their sums and for what is multiplied.
  std::int64_t most_side_by_side() const {
    if (s_.depth.blocks == 1 || s_.depth.taps < loops_of_steps(s_, c_.depth.size()) || c_.depth[s_.depth.level].extent % s_.depth.turns != 0) return 1;
    const std::int64_t each = s_.tile_rows * vectors() + vectors();
    return std::max<std::int64_t>(1, std::min(blocks_of_a_turn(), (machine_.vector_registers - 1) / each));
  }

  Packing of_window() const {
    if (window_->as_it_lies) return {Layout::in_place, "a window, read where it lies"};
    if (window_->inside.form() != Form::read) return {Layout::margins, "a window over what is computed once"};
    return {Layout::margins, "a window, with the zeros around it"};
  }

  Packing packing(const Factor& f) const {
    if (const auto must = settled(f)) return *must;
    const loops::Affine element = loops::element_number(f.value->args, system_[f.value->tensor].dims);
    const auto steps = steps_along(element, c_.depth);
    std::size_t innermost = c_.depth.size() - 1;
    while (innermost > 0 && c_.depth[innermost].extent == 1) --innermost;
    return from_memory(f, access_along(element, f.along.variable)->inner, (*steps)[innermost]);
  }

  /// How a factor lies where tiles can read it in one way alone.
  std::optional<Packing> settled(const Factor& f) const {
    if (f.value.form() != Form::read) return Packing{copied(f), "computed once"};
    if (system_[f.value->tensor].dtype != c_.held()) return Packing{copied(f), "converted once"};
    const loops::Affine element = loops::element_number(f.value->args, system_[f.value->tensor].dims);
    const auto along = access_along(element, f.along.variable);
    const auto steps = steps_along(element, c_.depth);
    if (f.vectors && along && steps && along->panel == s_.tile_columns && along->inner == 1) return Packing{Layout::in_place, "it lies in panels"};
    if (!along || along->panel != 0 || !steps) return Packing{copied(f), "its elements are at no fixed distance"};
    if (s_.adder != nullptr && (f.vectors || steps->back() != 1)) return Packing{copied(f), "terms that are taken at once lie side by side"};
    if (f.vectors && along->inner != 1) return Packing{Layout::panels, "its columns do not lie side by side"};
    return std::nullopt;
  }

  /// The layout into which a factor is copied without changing places, if there is one.
  Layout copied(const Factor& f) const {
    const bool side_by_side = holds(f.value, [&](const Expr& e) {
      return e.form() == Form::read && loops::element_number(e->args, system_[e->tensor].dims).coefficient(c_.depth.back().variable) == 1;
    });
    return side_by_side && !f.vectors ? Layout::rows : Layout::panels;
  }

  /// Whether a factor that could be read as it lies is better copied.
  Packing from_memory(const Factor& f, std::int64_t along, std::int64_t step) const {
    const std::int64_t bytes = f.along.extent * depth_ * held_size();
    const std::int64_t streams = f.vectors || step != 1 ? step * held_size() : along * held_size();
    if (f.tiles < threshold("least_reads_of_a_copy")) return {Layout::in_place, "read too rarely to be copied"};
    if (bytes <= usual_near_bytes) return {Layout::in_place, "small"};
    const bool few = !f.vectors && step == 1;
    if (streams % (few ? threshold("conflicting_row_bytes") : threshold("conflicting_bytes")) == 0) return {copied(f), "its lines meet in the same sets of a cache"};
    const std::int64_t lines = f.vectors || step != 1 ? depth_ : s_.tile_rows;
    if (streams >= threshold("page_bytes") / 2 && lines > threshold("most_lines_in_place")) return {copied(f), "its lines lie on many pages"};
    if (bytes > percent(usual_middle_bytes, threshold("near_factor_percent")) && lines > threshold("most_lines_in_place")) return {copied(f), "larger than half the second cache"};
    return {Layout::in_place, "read as it lies"};
  }

  /// A packed factor has its outer loops, panels, depth and the place in a panel as axes.
  bool too_many_axes() const {
    const auto axes = [&](const Expr& factor, std::size_t own) {
      std::size_t n = s_.adder != nullptr ? 4 : 3;
      for (std::size_t b = 0; b < equation_.binders.size(); ++b) {
        if (b != own && loops::mentions(factor, equation_.binders[b].variable)) ++n;
      }
      return n;
    };
    const Expr right = c_.guard.valid() && !s_.guards_taps ? spec::select(c_.guard, c_.right, c_.right) : c_.right;
    return (s_.left.packed() && !window_ && axes(c_.left, c_.row) > Dims::max_rank) ||
           (s_.right.packed() && axes(right, c_.column) > Dims::max_rank);
  }

  void choose_blocks() {
    const std::int64_t row_tiles = parts(row().extent, s_.tile_rows);
    const std::int64_t column_tiles = parts(column().extent, s_.tile_columns);
    std::int64_t outer = 1;
    for (std::size_t b = 0; b < equation_.binders.size(); ++b) {
      if (b != c_.row && b != c_.column) outer *= equation_.binders[b].extent;
    }
    const std::int64_t resident = std::max<std::int64_t>(1, percent(machine_.middle_bytes, threshold("row_block_percent")) / (s_.tile_rows * depth_ * held_size()));
    s_.block_rows = std::min(row_tiles, resident);
    s_.block_columns = column_tiles;
    std::string shared = "the outer loops are shared";
    if (outer < threshold("least_turns")) {
      s_.columns_outside = column_tiles >= threshold("least_turns") && (row_tiles < threshold("least_turns") || fetches_less_by_columns(row_tiles, column_tiles));
      std::int64_t& blocks = s_.columns_outside ? s_.block_columns : s_.block_rows;
      blocks = std::min(blocks, std::max<std::int64_t>(1, (s_.columns_outside ? column_tiles : row_tiles) / threshold("least_turns")));
      shared = s_.columns_outside ? "blocks of columns are shared" : "blocks of rows are shared";
    }
    const bool far = column().extent * depth_ * held_size() > percent(machine_.middle_bytes, threshold("far_factor_percent"));
    s_.fetch_ahead = far && loops_of_steps(s_, c_.depth.size()) == 1 && in_panels() && s_.block_rows >= s_.tile_columns / s_.lanes;
    s_.reason = fmt::format("{} by {} vectors of {} fill {} registers; {}", s_.tile_rows, s_.tile_columns / s_.lanes, s_.lanes,
                            machine_.vector_registers, shared);
  }

  /// Whether tiles read the right factor in panels, copied or as it lies.
  bool in_panels() const {
    if (s_.right.packed() || c_.right.form() != Form::read) return s_.right.layout == Layout::panels;
    const auto along = access_along(loops::element_number(c_.right->args, system_[c_.right->tensor].dims), column().variable);
    return along && along->panel != 0;
  }

  /// Whether fewer bytes come from beyond the second cache when each block of columns meets all rows than when each block of
  /// rows meets all columns. What fits half of that cache comes once.
  bool fetches_less_by_columns(std::int64_t row_tiles, std::int64_t column_tiles) const {
    const std::int64_t left = row().extent * depth_ * held_size();
    const std::int64_t right = column().extent * depth_ * held_size();
    const auto fetched = [&](std::int64_t bytes, std::int64_t times) { return bytes <= percent(machine_.middle_bytes, threshold("near_factor_percent")) ? bytes : bytes * times; };
    const std::int64_t block = std::min(s_.block_rows, std::max<std::int64_t>(1, row_tiles / threshold("least_turns")));
    return right + fetched(left, column_tiles) < left + fetched(right, parts(row_tiles, block));
  }

  const System& system_;
  const Equation& equation_;
  const Contraction& c_;
  const Machine& machine_;
  const ScheduleOptions& options_;
  const GivenTile& given_;
  std::int64_t depth_;
  std::optional<Window> window_;  ///< the left factor
  Schedule s_;
};

std::string text_of(const char* name, const Packing& p) {
  constexpr const char* layouts[] = {"in place", "packed in panels", "packed in rows", "packed with margins"};
  return fmt::format("{} {} ({})", name, layouts[static_cast<std::size_t>(p.layout)], p.reason);
}

}  // namespace

std::size_t waiting_bytes(const Schedule& s, std::size_t element) {
  if (s.depth.blocks <= 1) return 0;
  const auto sizes = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(s.depth.blocks - 1)));
  return sizes * static_cast<std::size_t>(s.tile_rows * s.tile_columns) * element;
}

Decision decide(const System& system, const Equation& equation, const Contraction& contraction, const Machine& machine,
                const ScheduleOptions& options, const GivenTile& given) {
  return Decider(system, equation, contraction, machine, options, given).run();
}

GivenTile given_tile(const Deciding& deciding, const std::string& value) {
  return {deciding.given("tile", value), deciding.given("pack", value), deciding.given("block", value), deciding.given("steps", value)};
}

std::int64_t registers_of_tile(std::int64_t rows, std::int64_t vectors) { return rows * vectors + vectors + threshold("registers_beside_sums"); }

void take_tile(Deciding& deciding, const std::string& value, const std::optional<Schedule>& s, bool blocks) {
  if (!s) return deciding.take(switched("tile", value, false));
  const auto layout = [](const Packing& p) { return std::string(layout_names[static_cast<std::size_t>(p.layout)]); };
  deciding.take({"tile", value, {{"rows", std::to_string(s->tile_rows)}, {"columns", std::to_string(s->tile_columns)}}});
  deciding.take({"pack", value, {{"left", layout(s->left)}, {"right", layout(s->right)}}});
  if (blocks) {
    deciding.take({"block", value, {{"rows", std::to_string(s->block_rows)}, {"columns", std::to_string(s->block_columns)},
                                    {"outside", s->columns_outside ? "columns" : "rows"}, {"ahead", s->fetch_ahead ? "on" : "off"}}});
  }
  deciding.take({"steps", value, {{"unroll", std::to_string(s->unroll)}, {"side_by_side", std::to_string(s->side_by_side)}, {"shared", std::to_string(s->shared_taps)}}});
}

std::string to_text(const Schedule& s) {
  return fmt::format("tiles of {} by {} in {} lanes{}{}, depth by {} in blocks of {}{}{}{}, blocks of {} by {} tiles, {} outside{}; {}; {}; {}",
                     s.tile_rows, s.tile_columns, s.lanes, s.across ? " stored in vectors of rows" : "",
                     s.adder != nullptr ? fmt::format(", {} terms at once by {}", s.adder->terms, name_of(*s.adder->instruction)) : "", s.unroll, s.depth.longest(),
                     s.guards_taps ? " whose steps have guards of their own" : "",
                     s.shared_taps > 1 ? fmt::format(" where {} steps share loads of rows", s.shared_taps) : "",
                     s.side_by_side > 1 ? fmt::format(", {} of them side by side", s.side_by_side) : "", s.block_rows, s.block_columns,
                     s.columns_outside ? "columns" : "rows", s.fetch_ahead ? ", the next panel fetched ahead" : "",
                     text_of("left", s.left), text_of("right", s.right), s.reason);
}

}  // namespace etalon::compiled
