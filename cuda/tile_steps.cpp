#include "cuda/tile_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/windows.hpp"
#include "cuda/counting.hpp"
#include "spec/error.hpp"

namespace etalon::cuda {

using compiled::loops::Type;
using compiled::source::literal;
using compiled::source::type_name;
using spec::Binder;
using spec::Expr;

namespace {

/// Numbers between the rows of a factor in shared memory: threads that write one after the other meet in other banks.
constexpr std::int64_t padding = 4;

/// Whether a factor's elements lie side by side along the last loop of the depth.
bool lies_by_steps(const spec::System& system, const Expr& factor, const Binder& last) {
  bool side_by_side = false;
  spec::for_each(factor, [&](const Expr& e) {
    if (e.form() != spec::Form::read) return;
    side_by_side = side_by_side || compiled::loops::element_number(e->args, system[e->tensor].dims).coefficient(last.variable) == 1;
  });
  return side_by_side;
}

/// What both sides of a tile ask of a term: those conditions that do not know the other side.
std::vector<Expr> guards_without(const Expr& taps, const Binder& other) {
  std::vector<Expr> all;
  if (!taps.valid()) return all;
  for (const Expr& e : compiled::conditions_of(taps)) {
    if (!compiled::loops::mentions(e, other.variable)) all.push_back(e);
  }
  return all;
}

}  // namespace

TileSteps::TileSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const compiled::loops::Contract& c, std::string thread,
                     std::string shared, std::string index, DepthPart part)
    : scalars_(scalars),
      text_(text),
      c_(c),
      s_(c.schedule),
      thread_(std::move(thread)),
      shared_(std::move(shared)),
      index_(std::move(index)),
      part_(std::move(part)),
      threads_(s_.tile_rows / s_.shared->rows * (s_.tile_columns / s_.shared->columns)),
      left_{c.left, c.row, s_.tile_rows, s_.shared->rows, {}, {}, {}, guards_without(c.taps, c.column), {}, lies_by_steps(system, c.left, c.depth.back())},
      right_{c.right, c.column, s_.tile_columns, s_.shared->columns, {}, {}, {}, guards_without(c.taps, c.row), {}, lies_by_steps(system, c.right, c.depth.back())} {
  if (s_.fragments == nullptr) return;
  fragments_.emplace(scalars_, text_, s_, thread_);
  for (Side* side : {&left_, &right_}) {
    if (side->factor.form() == spec::Form::read) side->held = system[side->factor->tensor].dtype;
  }
}

/// Of the numbers in shared memory.
std::string TileSteps::shared_type() const { return fragments_ ? std::string(fragments_->number_type()) : number_type(); }

std::int64_t TileSteps::bytes(const Side& side) const {
  return fragments_ ? fragment_bytes(s_, side.tile) : s_.shared->steps * (side.tile + padding) * (real_ == Type::f64 ? 8 : 4);
}

std::string TileSteps::number_type() const { return std::string(type_name(real_)); }

void TileSteps::begin(const compiled::loops::Step& s) {
  real_ = s.real;
  scalars_.set_real(real_);
  text_.open("");
  std::int64_t offset = 0;
  declare(left_, "left", offset);
  declare(right_, "right", offset);
  declare_counts(left_, "left", offset);
  declare_counts(right_, "right", offset);
  if (fragments_) fragments_->begin();
  else declare_places();
  open_tile();
}

/// Which of the threads along each side a thread is.
void TileSteps::declare_places() {
  const std::int64_t across = s_.tile_columns / s_.shared->columns;
  left_.place = scalars_.claim("down");
  right_.place = scalars_.claim("across");
  text_.line(fmt::format("const int {} = {} / {}, {} = {} % {};", left_.place, thread_, across, right_.place, thread_, across));
}

void TileSteps::end() {
  if (c_.wanted.valid()) text_.close();
  if (s_.block_columns > 1) text_.close();
  text_.close();
}

/// Of several tiles of columns a block does one after the other.
void TileSteps::open_tile() {
  left_.first = scalars_.claim(fmt::format("first_{}", left_.along.name));
  text_.line(fmt::format("const {} {} = {} * {};", index_, left_.first, scalars_.value(c_.first_row, text_), left_.tile));
  right_.first = scalars_.claim(fmt::format("first_{}", right_.along.name));
  const std::string first = scalars_.value(c_.first_column, text_);
  if (s_.block_columns == 1) {
    text_.line(fmt::format("const {} {} = {} * {};", index_, right_.first, first, right_.tile));
  } else {
    const std::string tile = scalars_.claim("tile");
    const std::string end = c_.first_column.is_integer(0) ? std::to_string(s_.block_columns) : fmt::format("{} + {}", first, s_.block_columns);
    text_.open(fmt::format("for ({0} {1} = {2}; {1} < {3}; ++{1})", index_, tile, first, end));
    text_.line(fmt::format("const {} {} = {} * {};", index_, right_.first, tile, right_.tile));
  }
  if (c_.wanted.valid()) leave_out_unread();
}

/// The inequality holds somewhere if it does in the corner where it is weakest.
void TileSteps::leave_out_unread() {
  const compiled::loops::Affine least = *compiled::at_least_zero(c_.wanted);
  for (const Side* side : {&left_, &right_}) {
    const std::string last = fmt::format("{} + {}", side->first, side->tile - 1), extent = literal(side->along.extent - 1);
    const bool is_whole = side->along.extent % side->tile == 0;
    const std::string corner = least.coefficient(side->along.variable) <= 0 ? side->first : is_whole ? last : fmt::format("{0} < {1} ? {0} : {1}", last, extent);
    text_.line(fmt::format("const {} {} = {};", index_, scalars_.bind(side->along), corner));
  }
  const std::string wanted = scalars_.value(c_.wanted, text_);
  text_.open(fmt::format("if ({})", wanted));
}

void TileSteps::declare(Side& side, const char* name, std::int64_t& offset) {
  side.numbers = scalars_.claim(name);
  text_.line(fmt::format("{0} *const {1} = ({0} *)({2} + {3});", shared_type(), side.numbers, shared_, offset));
  offset += bytes(side);
}

void TileSteps::declare_counts(Side& side, const char* name, std::int64_t& offset) {
  if (side.guards.empty()) return;
  side.counts = scalars_.claim(fmt::format("{}_counts", name));
  text_.line(fmt::format("bool *const {} = (bool *)({} + {});", side.counts, shared_, offset));
  offset += s_.shared->steps * side.tile;
}

// --- the depth ---

void TileSteps::add_up() {
  const compiled::DepthWalk& walk = s_.depth;
  sums_ = scalars_.claim("sums");
  text_.line(fmt::format("{} {}[{}][{}] = {{}};", number_type(), sums_, left_.each, right_.each));
  const std::int64_t most = part_.most == 0 ? walk.blocks : part_.most;
  if (most > 1) waiting_.emplace(scalars_, text_, WaitingSums::Sums{number_type(), sums_, left_.each, right_.each}, most);
  for (Side* side : {&left_, &right_}) declare_next(*side);
  const std::string piece = scalars_.claim("piece");
  pieces_of_block_ = compiled::parts(walk.turns * walk.inside, s_.shared->steps);
  std::string first = "0", pieces = std::to_string(walk.blocks * pieces_of_block_), last = std::to_string(walk.blocks * pieces_of_block_ - 1);
  if (part_.most != 0) {
    first = fmt::format("{} * {}", part_.first, pieces_of_block_);
    pieces = fmt::format("({} + {}) * {}", part_.first, part_.count, pieces_of_block_);
    last = pieces + " - 1";
  }
  fetch(first);
  text_.open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0})", piece, first, pieces));
  text_.line("__syncthreads();");
  put(left_);
  put(right_);
  text_.line("__syncthreads();");
  if (last != "0") {
    text_.open(fmt::format("if ({} < {})", piece, last));
    fetch(piece + " + 1");
    text_.close();
  }
  multiply_piece(piece);
  if (waiting_) carry(piece);
  text_.close();
  if (waiting_) waiting_->join(part_.most == 0);
}

/// What each thread has fetched of a factor and not yet put where all see it.
void TileSteps::declare_next(Side& side) {
  side.share = compiled::parts(s_.shared->steps * side.tile, threads_);
  side.next = scalars_.claim("next_" + side.numbers);
  text_.line(fmt::format("{} {}[{}];", number_type(), side.next, side.share));
  if (!side.guards.empty()) text_.line(fmt::format("bool {}_counts[{}];", side.next, side.share));
}

/// Of a piece of the depth, some steps of one block: the turn of the loop in blocks with which the block begins, and how many terms it has.
/// \returns the block
std::string TileSteps::begin_block(const std::string& piece) {
  const compiled::DepthWalk& walk = s_.depth;
  const std::int64_t extent = c_.depth[walk.level].extent;
  const std::string block = scalars_.claim("block");
  text_.line(fmt::format("const int {} = ({}) / {};", block, piece, pieces_of_block_));
  first_turn_ = scalars_.claim("first_turn");
  text_.line(fmt::format("const {} {} = {} % {} * {};", index_, first_turn_, block, compiled::parts(extent, walk.turns), walk.turns));
  terms_ = std::to_string(walk.turns * walk.inside);
  if (extent % walk.turns == 0) return block;
  terms_ = scalars_.claim("terms");
  text_.line(fmt::format("const int {0} = (int)({1} < {2} - {3} ? {1} : {2} - {3}) * {4};", terms_, walk.turns, literal(extent), first_turn_, walk.inside));
  return block;
}

/// The same, and what the loops outside of the blocks are there.
void TileSteps::locate(const std::string& piece) {
  const std::string block = begin_block(piece);
  const compiled::DepthWalk& walk = s_.depth;
  std::int64_t inner = compiled::parts(c_.depth[walk.level].extent, walk.turns);
  for (std::size_t l = walk.level; l-- > 0; inner *= c_.depth[l].extent) {
    const std::string i = scalars_.bind(c_.depth[l]);
    text_.line(fmt::format("const {} {} = {} / {} % {};", index_, i, block, inner, literal(c_.depth[l].extent)));
  }
}

/// Each thread's share of a piece of both factors, on its way while the piece before is multiplied.
void TileSteps::fetch(const std::string& piece) {
  text_.open("");
  locate(piece);
  const std::string first = scalars_.claim("first_step");
  text_.line(fmt::format("const int {} = ({}) % {} * {};", first, piece, pieces_of_block_, s_.shared->steps));
  fetch(left_, first);
  fetch(right_, first);
  text_.close();
}

/// Opens the loop over a thread's share. \returns what numbers the share, the step and the row or column
TileSteps::Share TileSteps::open_share(const Side& side) {
  const Share share{scalars_.claim("i"), scalars_.claim("step"), scalars_.claim("n")};
  const std::int64_t steps = s_.shared->steps, all = steps * side.tile;
  open_unrolled(text_, share.number, side.share);
  const std::string e = scalars_.claim("e");
  text_.line(fmt::format("const int {} = {} + {} * {};", e, thread_, share.number, threads_));
  if (all % threads_ != 0) text_.line(fmt::format("if ({} >= {}) break;", e, all));
  text_.line(side.by_steps ? fmt::format("const int {} = {} % {}, {} = {} / {};", share.step, e, steps, share.along, e, steps)
                           : fmt::format("const int {} = {} % {}, {} = {} / {};", share.along, e, side.tile, share.step, e, side.tile));
  return share;
}

void TileSteps::fetch(const Side& side, const std::string& first) {
  const Share share = open_share(side);
  const std::string term = scalars_.claim("term"), along = scalars_.bind(side.along);
  text_.line(fmt::format("const int {} = {} + {};", term, first, share.step));
  text_.line(fmt::format("const {} {} = {} + {};", index_, along, side.first, share.along));
  text_.line(fmt::format("{}[{}] = 0;", side.next, share.number));
  if (!side.guards.empty()) text_.line(fmt::format("{}_counts[{}] = false;", side.next, share.number));
  std::string inside = has_whole_pieces() ? "" : fmt::format("{} < {}", term, terms_);
  if (side.along.extent % side.tile != 0) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", along, literal(side.along.extent));
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
  bind_depth(term);
  for (const Expr& guard : side.guards) text_.open(fmt::format("if ({})", scalars_.value(guard, text_)));
  if (!side.guards.empty()) text_.line(fmt::format("{}_counts[{}] = true;", side.next, share.number));
  text_.line(fmt::format("{}[{}] = {};", side.next, share.number, scalars_.value(side.factor, real_, text_)));
  for (std::size_t g = 0; g < side.guards.size(); ++g) text_.close();
  text_.close();
  text_.close();
}

/// What was fetched goes where all threads see it.
void TileSteps::put(const Side& side) {
  const Share share = open_share(side);
  const std::string next = fmt::format("{}[{}]", side.next, share.number);
  if (fragments_) text_.line(fmt::format("{}[{} * {} + {}] = {};", side.numbers, share.along, fragments_->row_numbers(), share.step, fragments_->narrowed(next, side.held)));
  else text_.line(fmt::format("{}[{} * {} + {}] = {}[{}];", side.numbers, share.step, side.tile + padding, share.along, side.next, share.number));
  if (!side.guards.empty()) text_.line(fmt::format("{}[{} * {} + {}] = {}_counts[{}];", side.counts, share.step, side.tile, share.along, side.next, share.number));
  text_.close();
}

/// What the loops of the depth are at a term of the block.
void TileSteps::bind_depth(const std::string& term) {
  const compiled::DepthWalk& walk = s_.depth;
  std::int64_t inner = walk.inside;
  for (std::size_t l = walk.level; l < c_.depth.size(); ++l) {
    const Binder& b = c_.depth[l];
    if (l > walk.level) inner /= b.extent;
    const std::string turn = inner == 1 ? term : fmt::format("{} / {}", term, inner);
    const std::string at = l == walk.level ? fmt::format("{} + {}", first_turn_, turn) : fmt::format("{} % {}", turn, b.extent);
    const std::string name = scalars_.bind(b);
    text_.line(fmt::format("const {} {} = {};", index_, name, at));
  }
}

/// Whether no piece has fewer steps than others.
bool TileSteps::has_whole_pieces() const {
  const compiled::DepthWalk& walk = s_.depth;
  return c_.depth[walk.level].extent % walk.turns == 0 && walk.turns * walk.inside % s_.shared->steps == 0;
}

/// The steps of a piece, all of them or as many as its block has left.
void TileSteps::multiply_piece(const std::string& piece) {
  const std::int64_t steps = s_.shared->steps;
  // Behind the last step of a block are zeros.
  if (fragments_) return fragments_->multiply(left_.numbers, right_.numbers, sums_);
  if (has_whole_pieces()) return multiply(std::to_string(steps), true);
  const std::string left = scalars_.claim("steps_left");
  text_.open("");
  if (c_.depth[s_.depth.level].extent % s_.depth.turns == 0) terms_ = std::to_string(s_.depth.turns * s_.depth.inside);
  else (void)begin_block(piece);
  text_.line(fmt::format("const int {} = {} - {} % {} * {};", left, terms_, piece, pieces_of_block_, steps));
  text_.open(fmt::format("if ({} >= {})", left, steps));
  multiply(std::to_string(steps), true);
  text_.otherwise();
  multiply(left, false);
  text_.close();
  text_.close();
}

void TileSteps::multiply(const std::string& steps, bool unroll) {
  const std::string step = scalars_.claim("step"), r = scalars_.claim("r"), c = scalars_.claim("c");
  if (unroll) text_.raw("#pragma unroll");
  text_.open(counting(step, steps));
  const std::string a = load(left_, step), b = load(right_, step);
  open_unrolled(text_, r, left_.each);
  text_.raw("#pragma unroll");
  const std::string sum = fmt::format("{}[{}][{}]", sums_, r, c);
  const std::string added = fmt::format("{0}({1}[{2}], {3}[{4}], {5})", real_ == Type::f64 ? "fma" : "fmaf", a, r, b, c, sum);
  std::string counts;
  if (!left_.counts.empty()) counts = fmt::format("{}_counts[{}]", a, r);
  if (!right_.counts.empty()) counts += fmt::format("{}{}_counts[{}]", counts.empty() ? "" : " && ", b, c);
  text_.line(fmt::format("{} {} = {};", counting(c, right_.each), sum, counts.empty() ? added : fmt::format("{} ? {} : {}", counts, added, sum)));
  text_.close();
  text_.close();
}

/// A thread's rows or columns of a step, as an array.
std::string TileSteps::load(const Side& side, const std::string& step) {
  const std::string numbers = scalars_.claim("own_" + side.numbers), i = scalars_.claim("i");
  text_.line(fmt::format("{} {}[{}];", number_type(), numbers, side.each));
  const std::string row = fmt::format("{} * {} + ", step, side.tile + padding);
  if (real_ == Type::f32 && side.each % 4 == 0) {
    const std::string four = scalars_.claim("four");
    for (std::int64_t f = 0; f < side.each / 4; ++f) {
      text_.line(fmt::format("const float4 {}{} = *(const float4 *)({} + {}{});", four, f, side.numbers, row, place(side, std::to_string(4 * f))));
      for (std::int64_t j = 0; j < 4; ++j) text_.line(fmt::format("{}[{}] = {}{}.{};", numbers, 4 * f + j, four, f, "xyzw"[j]));
    }
  } else {
    text_.raw("#pragma unroll");
    text_.line(fmt::format("{} {}[{}] = {}[{}{}];", counting(i, side.each), numbers, i, side.numbers, row, place(side, i)));
  }
  if (!side.counts.empty()) {
    text_.line(fmt::format("bool {}_counts[{}];", numbers, side.each));
    text_.raw("#pragma unroll");
    text_.line(fmt::format("{} {}_counts[{}] = {}[{} * {} + {}];", counting(i, side.each), numbers, i, side.counts, step, side.tile, place(side, i)));
  }
  return numbers;
}

/// Where a thread's rows or columns are in the tile: by fours, so that threads beside each other read other banks.
std::string TileSteps::place(const Side& side, const std::string& number) const {
  if (fragments_) return &side == &left_ ? fragments_->row(number) : fragments_->column(number);
  if (side.each <= 4) return fmt::format("{} * {} + {}", side.place, side.each, number);
  return fmt::format("{0} / 4 * {1} + 4 * {2} + {0} % 4", number, 4 * side.tile / side.each, side.place);
}

/// After its last piece the sum of the block at hand meets those of its size that wait, and waits; that of the last block stays in registers.
void TileSteps::carry(const std::string& piece) {
  text_.open(fmt::format("if ({}{} < {})", pieces_of_block_ == 1 ? "" : fmt::format("({} + 1) % {} == 0 && ", piece, pieces_of_block_), waiting_->done(), part_.most == 0 ? std::to_string(s_.depth.blocks - 1) : part_.count + " - 1"));
  waiting_->put();
  text_.close();
}

// --- elements ---

void TileSteps::open_element() {
  const std::string r = scalars_.claim("r"), c = scalars_.claim("c");
  open_unrolled(text_, r, left_.each);
  const std::string row = scalars_.bind(c_.row);
  text_.line(fmt::format("const {} {} = {} + {};", index_, row, left_.first, place(left_, r)));
  open_unrolled(text_, c, right_.each);
  const std::string column = scalars_.bind(c_.column);
  text_.line(fmt::format("const {} {} = {} + {};", index_, column, right_.first, place(right_, c)));
  text_.open(fmt::format("if ({} < {} && {} < {})", row, literal(c_.row.extent), column, literal(c_.column.extent)));
  text_.line(fmt::format("const {} {} = {}[{}][{}];", number_type(), scalars_.define(c_.target, real_), sums_, r, c));
}

void TileSteps::close_element() {
  for (int block = 0; block < 3; ++block) text_.close();
}

}  // namespace etalon::cuda
