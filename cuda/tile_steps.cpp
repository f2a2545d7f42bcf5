#include "cuda/tile_steps.hpp"

#include <fmt/format.h>

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

std::optional<FragmentSteps> made_fragments(compiled::source::Scalars& scalars, compiled::source::Text& text, const compiled::Schedule& s, const std::string& thread) {
  return s.fragments == nullptr ? std::nullopt : std::optional<FragmentSteps>(std::in_place, scalars, text, s, thread);
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
      fragments_(made_fragments(scalars, text, s_, thread_)),
      left_{c.left, c.row, s_.tile_rows, s_.shared->rows, s_.shared->left_copied},
      right_{c.right, c.column, s_.tile_columns, s_.shared->columns, s_.shared->right_copied},
      staging_(scalars, system, text, c, left_, right_, thread_, threads_, index_, fragments_ ? &*fragments_ : nullptr) {}

std::string TileSteps::number_type() const { return std::string(type_name(real_)); }

void TileSteps::begin(const compiled::loops::Step& s) {
  real_ = s.real;
  scalars_.set_real(real_);
  text_.open("");
  staging_.declare(shared_, real_);
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

// --- the depth ---

void TileSteps::add_up() {
  const compiled::DepthWalk& walk = s_.depth;
  sums_ = scalars_.claim("sums");
  text_.line(fmt::format("{} {}[{}][{}] = {{}};", number_type(), sums_, left_.each, right_.each));
  const std::int64_t most = part_.most == 0 ? walk.blocks : part_.most;
  if (most > 1) waiting_.emplace(scalars_, text_, WaitingSums::Sums{number_type(), sums_, left_.each, right_.each}, most);
  const std::int64_t of_block = staging_.pieces_of_block();
  Pieces pieces{"0", std::to_string(walk.blocks * of_block), std::to_string(walk.blocks * of_block - 1)};
  if (part_.most != 0) {
    pieces.first = fmt::format("{} * {}", part_.first, of_block);
    pieces.end = fmt::format("({} + {}) * {}", part_.first, part_.count, of_block);
    pieces.last = pieces.end + " - 1";
  }
  staging_.begin(pieces);
  const std::string piece = scalars_.claim("piece");
  text_.open(fmt::format("for (int {0} = {1}; {0} < {2}; ++{0})", piece, pieces.first, pieces.end));
  staging_.advance(piece);
  multiply_piece(piece);
  if (waiting_) carry(piece);
  text_.close();
  if (waiting_) waiting_->join(part_.most == 0);
}

/// The steps of a piece, all of them or as many as its block has left.
void TileSteps::multiply_piece(const std::string& piece) {
  const std::int64_t steps = s_.shared->steps;
  // Behind the last step of a block are zeros.
  if (fragments_) return fragments_->multiply(left_.numbers, right_.numbers, sums_);
  if (staging_.has_whole_pieces()) return multiply(std::to_string(steps), true);
  text_.open("");
  const std::string left = staging_.steps_left(piece);
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
  const std::string row = fmt::format("{} * {} + ", step, side.tile + side_padding);
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
  const std::int64_t of_block = staging_.pieces_of_block();
  text_.open(fmt::format("if ({}{} < {})", of_block == 1 ? "" : fmt::format("({} + 1) % {} == 0 && ", piece, of_block), waiting_->done(), part_.most == 0 ? std::to_string(s_.depth.blocks - 1) : part_.count + " - 1"));
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
