#include "cuda/tile_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/windows.hpp"
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

std::string counting(const std::string& name, std::int64_t to) { return fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", name, to); }

}  // namespace

TileSteps::TileSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const compiled::loops::Contract& c, std::string thread,
                     std::string shared)
    : scalars_(scalars),
      text_(text),
      c_(c),
      s_(c.schedule),
      thread_(std::move(thread)),
      shared_(std::move(shared)),
      threads_(s_.tile_rows / s_.shared->rows * (s_.tile_columns / s_.shared->columns)),
      left_{c.left, c.row, s_.tile_rows, s_.shared->rows, {}, {}, {}, guards_without(c.taps, c.column), {}, lies_by_steps(system, c.left, c.depth.back())},
      right_{c.right, c.column, s_.tile_columns, s_.shared->columns, {}, {}, {}, guards_without(c.taps, c.row), {}, lies_by_steps(system, c.right, c.depth.back())} {}

std::string TileSteps::number_type() const { return std::string(type_name(real_)); }

void TileSteps::begin(const compiled::loops::Step& s) {
  real_ = s.real;
  scalars_.set_real(real_);
  text_.open("");
  std::int64_t offset = 0;
  declare(left_, "left", c_.first_row, offset);
  declare(right_, "right", c_.first_column, offset);
  declare_counts(left_, "left", offset);
  declare_counts(right_, "right", offset);
  const std::int64_t across = s_.tile_columns / s_.shared->columns;
  left_.place = scalars_.claim("down");
  right_.place = scalars_.claim("across");
  text_.line(fmt::format("const int {} = {} / {}, {} = {} % {};", left_.place, thread_, across, right_.place, thread_, across));
}

void TileSteps::declare(Side& side, const char* name, const Expr& first, std::int64_t& offset) {
  side.first = scalars_.claim(fmt::format("first_{}", side.along.name));
  text_.line(fmt::format("const int64_t {} = {} * {};", side.first, scalars_.value(first, text_), side.tile));
  side.numbers = scalars_.claim(name);
  text_.line(fmt::format("{0} *const {1} = ({0} *)({2} + {3});", number_type(), side.numbers, shared_, offset));
  offset += s_.shared->steps * (side.tile + padding) * (real_ == Type::f64 ? 8 : 4);
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
  if (walk.blocks > 1) {
    waiting_ = scalars_.claim("waiting");
    blocks_ = scalars_.claim("blocks");
    text_.line(fmt::format("{} {}[{}][{}][{}];", number_type(), waiting_, std::bit_width(static_cast<std::uint64_t>(walk.blocks - 1)), left_.each, right_.each));
    text_.line(fmt::format("int64_t {} = 0;", blocks_));
  }
  for (std::size_t l = 0; l < walk.level; ++l) {
    const std::string i = scalars_.bind(c_.depth[l]);
    text_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", i, literal(c_.depth[l].extent)));
  }
  const std::int64_t extent = c_.depth.empty() ? 1 : c_.depth[walk.level].extent;
  first_turn_ = scalars_.claim("first_turn");
  text_.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; {0} += {2})", first_turn_, literal(extent), literal(walk.turns)));
  in_block(extent);
  if (walk.blocks > 1) carry();
  text_.close();
  for (std::size_t l = 0; l < walk.level; ++l) text_.close();
  if (walk.blocks > 1) join_waiting();
}

/// The terms of a block, so many steps at a time.
void TileSteps::in_block(std::int64_t extent) {
  const compiled::DepthWalk& walk = s_.depth;
  const bool even = extent % walk.turns == 0;
  const std::int64_t most = walk.turns * walk.inside;
  std::string terms = std::to_string(most);
  if (!even) {
    terms = scalars_.claim("terms");
    text_.line(fmt::format("const int {0} = (int)({1} < {2} - {3} ? {1} : {2} - {3}) * {4};", terms, walk.turns, literal(extent), first_turn_, walk.inside));
  }
  const std::int64_t steps = s_.shared->steps;
  const std::string first = scalars_.claim("first_step");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; {0} += {2})", first, terms, steps));
  text_.line("__syncthreads();");
  copy(left_, first, terms);
  copy(right_, first, terms);
  text_.line("__syncthreads();");
  if (even && most % steps == 0) {
    multiply(std::to_string(steps), true);
  } else {
    text_.open(fmt::format("if ({} + {} <= {})", first, steps, terms));
    multiply(std::to_string(steps), true);
    text_.otherwise();
    multiply(fmt::format("{} - {}", terms, first), false);
    text_.close();
  }
  text_.close();
}

/// What the loops of the depth are at a term of the block.
void TileSteps::bind_depth(const std::string& term) {
  const compiled::DepthWalk& walk = s_.depth;
  if (c_.depth.empty()) return;
  std::int64_t inner = walk.inside;
  for (std::size_t l = walk.level; l < c_.depth.size(); ++l) {
    const Binder& b = c_.depth[l];
    if (l > walk.level) inner /= b.extent;
    std::string at = inner == 1 ? term : fmt::format("{} / {}", term, inner);
    if (l == walk.level) at = fmt::format("{} + {}", first_turn_, at);
    else if (l > walk.level + 1 || walk.level + 1 < c_.depth.size()) at = inner == 1 ? fmt::format("{} % {}", term, b.extent) : fmt::format("{} % {}", at, b.extent);
    const std::string name = scalars_.bind(b);
    text_.line(fmt::format("const int64_t {} = {};", name, at));
  }
}

/// Each thread copies its share.
void TileSteps::copy(const Side& side, const std::string& first, const std::string& terms) {
  const std::int64_t steps = s_.shared->steps;
  const std::string e = scalars_.claim("e"), step = scalars_.claim("step"), n = scalars_.claim("n"), value = scalars_.claim("value"), term = scalars_.claim("term");
  if (steps * side.tile % threads_ == 0) text_.raw("#pragma unroll");
  text_.open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", e, thread_, steps * side.tile, threads_));
  const std::int64_t fast = side.by_steps ? steps : side.tile;
  text_.line(fmt::format("const int {0} = {2} % {3}, {1} = {2} / {3};", side.by_steps ? step : n, side.by_steps ? n : step, e, fast));
  text_.line(fmt::format("const int {} = {} + {};", term, first, step));
  const std::string along = scalars_.bind(side.along);
  text_.line(fmt::format("const int64_t {} = {} + {};", along, side.first, n));
  text_.line(fmt::format("{} {} = 0;", number_type(), value));
  std::string counts;
  if (!side.guards.empty()) {
    counts = scalars_.claim("counts");
    text_.line(fmt::format("bool {} = false;", counts));
  }
  text_.open(fmt::format("if ({} < {} && {} < {})", term, terms, along, literal(side.along.extent)));
  bind_depth(term);
  for (const Expr& guard : side.guards) text_.open(fmt::format("if ({})", scalars_.value(guard, text_)));
  if (!counts.empty()) text_.line(fmt::format("{} = true;", counts));
  text_.line(fmt::format("{} = {};", value, scalars_.value(side.factor, real_, text_)));
  for (std::size_t g = 0; g < side.guards.size(); ++g) text_.close();
  text_.close();
  text_.line(fmt::format("{}[{} * {} + {}] = {};", side.numbers, step, side.tile + padding, n, value));
  if (!counts.empty()) text_.line(fmt::format("{}[{} * {} + {}] = {};", side.counts, step, side.tile, n, counts));
  text_.close();
}

void TileSteps::multiply(const std::string& steps, bool unroll) {
  const std::string step = scalars_.claim("step"), r = scalars_.claim("r"), c = scalars_.claim("c");
  if (unroll) text_.raw("#pragma unroll");
  text_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", step, steps));
  const std::string a = load(left_, step), b = load(right_, step);
  text_.raw("#pragma unroll");
  text_.open(counting(r, left_.each));
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
  if (side.each <= 4) return fmt::format("{} * {} + {}", side.place, side.each, number);
  return fmt::format("{0} / 4 * {1} + 4 * {2} + {0} % 4", number, 4 * side.tile / side.each, side.place);
}

/// The sum of the block at hand meets those of its size that wait, and waits; that of the last block stays in registers.
void TileSteps::carry() {
  const std::string digit = scalars_.claim("digit");
  text_.open(fmt::format("if ({} != {})", blocks_, s_.depth.blocks - 1));
  text_.line(fmt::format("int {} = 0;", digit));
  text_.open(fmt::format("for (; (({} >> {}) & 1) != 0; ++{})", blocks_, digit, digit));
  each_sum([&](const std::string& r, const std::string& c) { return fmt::format("{0}[{2}][{3}] = {1}[{4}][{2}][{3}] + {0}[{2}][{3}];", sums_, waiting_, r, c, digit); });
  text_.close();
  each_sum([&](const std::string& r, const std::string& c) { return fmt::format("{1}[{4}][{2}][{3}] = {0}[{2}][{3}], {0}[{2}][{3}] = 0;", sums_, waiting_, r, c, digit); });
  text_.line(fmt::format("++{};", blocks_));
  text_.close();
}

/// The last block's sum meets all that wait, the smallest first.
void TileSteps::join_waiting() {
  const auto waiting = static_cast<std::uint64_t>(s_.depth.blocks - 1);
  for (int digit = 0; waiting >> digit != 0; ++digit) {
    if ((waiting >> digit & 1) == 0) continue;
    each_sum([&](const std::string& r, const std::string& c) { return fmt::format("{0}[{2}][{3}] = {1}[{4}][{2}][{3}] + {0}[{2}][{3}];", sums_, waiting_, r, c, digit); });
  }
}

void TileSteps::each_sum(const std::function<std::string(const std::string& r, const std::string& c)>& statement) {
  const std::string r = scalars_.claim("r"), c = scalars_.claim("c");
  text_.raw("#pragma unroll");
  text_.open(counting(r, left_.each));
  text_.raw("#pragma unroll");
  text_.open(counting(c, right_.each));
  text_.line(statement(r, c));
  text_.close();
  text_.close();
}

// --- elements ---

void TileSteps::open_element() {
  const std::string r = scalars_.claim("r"), c = scalars_.claim("c");
  text_.raw("#pragma unroll");
  text_.open(counting(r, left_.each));
  const std::string row = scalars_.bind(c_.row);
  text_.line(fmt::format("const int64_t {} = {} + {};", row, left_.first, place(left_, r)));
  text_.raw("#pragma unroll");
  text_.open(counting(c, right_.each));
  const std::string column = scalars_.bind(c_.column);
  text_.line(fmt::format("const int64_t {} = {} + {};", column, right_.first, place(right_, c)));
  text_.open(fmt::format("if ({} < {} && {} < {})", row, literal(c_.row.extent), column, literal(c_.column.extent)));
  text_.line(fmt::format("const {} {} = {}[{}][{}];", number_type(), scalars_.define(c_.target, real_), sums_, r, c));
}

void TileSteps::close_element() {
  for (int block = 0; block < 4; ++block) text_.close();
}

}  // namespace etalon::cuda
