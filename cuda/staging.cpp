#include "cuda/staging.hpp"

#include <fmt/format.h>

#include <utility>

#include "compiled/ir/affine.hpp"
#include "compiled/ir/windows.hpp"
#include "cuda/copies.hpp"
#include "cuda/counting.hpp"

namespace etalon::cuda {

using compiled::loops::Type;
using compiled::source::literal;
using compiled::source::type_name;
using spec::Binder;
using spec::Expr;

namespace {

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

Staging::Staging(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const compiled::loops::Contract& c, Side& left, Side& right,
                 std::string thread, std::int64_t threads, std::string index, const FragmentSteps* fragments)
    : scalars_(scalars),
      system_(system),
      text_(text),
      c_(c),
      s_(c.schedule),
      left_(left),
      right_(right),
      thread_(std::move(thread)),
      threads_(threads),
      index_(std::move(index)),
      fragments_(fragments),
      pieces_of_block_(compiled::parts(s_.depth.longest(), s_.shared->steps)) {
  left_.guards = guards_without(c.taps, c.column);
  right_.guards = guards_without(c.taps, c.row);
  for (Side* side : sides()) {
    side->by_steps = lies_by_steps(system, side->factor, c.depth.back());
    if (fragments_ != nullptr && side->factor.form() == spec::Form::read) side->held = system[side->factor->tensor].dtype;
  }
}

std::string Staging::number_type() const { return fragments_ != nullptr ? std::string(fragments_->number_type()) : std::string(type_name(real_)); }

/// Of a piece.
std::int64_t Staging::bytes(const Side& side) const {
  return fragments_ != nullptr ? fragment_bytes(s_, side.tile) : s_.shared->steps * (side.tile + side_padding) * (real_ == Type::f64 ? 8 : 4);
}

void Staging::declare(const std::string& shared, Type real) {
  real_ = real;
  std::int64_t offset = 0;
  for (const auto& [side, name] : {std::pair{&left_, "left"}, std::pair{&right_, "right"}}) {
    side->numbers = side->memory = scalars_.claim(name);
    text_.line(fmt::format("{0} *const {1} = ({0} *)({2} + {3});", number_type(), side->memory, shared, offset));
    offset += s_.shared->stages * bytes(*side);
  }
  for (const auto& [side, name] : {std::pair{&left_, "left"}, std::pair{&right_, "right"}}) {
    if (side->guards.empty()) continue;
    side->counts = scalars_.claim(fmt::format("{}_counts", name));
    text_.line(fmt::format("bool *const {} = (bool *)({} + {});", side->counts, shared, offset));
    offset += s_.shared->steps * side->tile;
  }
}

// --- pieces ---

void Staging::begin(const Pieces& pieces) {
  pieces_ = pieces;
  for (Side* side : sides()) {
    if (side->copied == 0) declare_next(*side);
  }
  if (is_copied()) begin_copies();
  if (has_registers()) fetch(pieces_.first);
}

/// Threads may still read what lay there before.
void Staging::begin_copies() {
  text_.line("__syncthreads();");
  for (std::int64_t n = 0; n + 1 < s_.shared->stages; ++n) {
    const std::string piece = n == 0 ? pieces_.first : fmt::format("{} + {}", pieces_.first, n);
    text_.open(n == 0 ? "" : fmt::format("if ({} < {})", piece, pieces_.end));
    copy(piece);
    text_.close();
    text_.line(closing_copies());
  }
}

void Staging::advance(const std::string& piece) {
  if (!is_copied()) text_.line("__syncthreads();");
  else text_.line(waiting_for_copies(s_.shared->stages - 2));
  for (Side* side : sides()) {
    if (is_copied()) {
      side->numbers = scalars_.claim(side->memory + "_now");
      text_.line(fmt::format("{} *const {} = {};", number_type(), side->numbers, stage(*side, piece)));
    }
    if (side->copied == 0) put(*side);
  }
  text_.line("__syncthreads();");
  if (is_copied()) copy_later(piece);
  if (!has_registers() || pieces_.last == "0") return;
  text_.open(fmt::format("if ({} < {})", piece, pieces_.last));
  fetch(piece + " + 1");
  text_.close();
}

/// Where the piece before the one at hand was, which nobody reads any more. A group is closed for each piece, so that as many stay open at
/// the end.
void Staging::copy_later(const std::string& piece) {
  const std::string later = fmt::format("{} + {}", piece, s_.shared->stages - 1);
  text_.open(fmt::format("if ({} < {})", later, pieces_.end));
  copy(later);
  text_.close();
  text_.line(closing_copies());
}

/// The memory of a piece.
std::string Staging::stage(const Side& side, const std::string& piece) const {
  const std::int64_t numbers = bytes(side) / (fragments_ != nullptr ? static_cast<std::int64_t>(size_of(s_.fragments->held)) : real_ == Type::f64 ? 8 : 4);
  return fmt::format("{} + ({}) % {} * {}", side.memory, piece, s_.shared->stages, numbers);
}

/// What each thread has fetched of a factor and not yet put where all see it.
void Staging::declare_next(Side& side) {
  side.share = compiled::parts(s_.shared->steps * side.tile, threads_);
  side.next = scalars_.claim("next_" + side.memory);
  text_.line(fmt::format("{} {}[{}];", type_name(real_), side.next, side.share));
  if (!side.guards.empty()) text_.line(fmt::format("bool {}_counts[{}];", side.next, side.share));
}

/// Of a piece of the depth, some steps of one block: the turn of the loop in blocks with which the block begins, and how many terms it has.
/// \returns the block
std::string Staging::begin_block(const std::string& piece) {
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
void Staging::locate(const std::string& piece) {
  const std::string block = begin_block(piece);
  const compiled::DepthWalk& walk = s_.depth;
  std::int64_t inner = compiled::parts(c_.depth[walk.level].extent, walk.turns);
  for (std::size_t l = walk.level; l-- > 0; inner *= c_.depth[l].extent) {
    const std::string i = scalars_.bind(c_.depth[l]);
    text_.line(fmt::format("const {} {} = {} / {} % {};", index_, i, block, inner, literal(c_.depth[l].extent)));
  }
}

/// The same. \returns the first step of the piece in its block
std::string Staging::locate_step(const std::string& piece) {
  locate(piece);
  const std::string first = scalars_.claim("first_step");
  text_.line(fmt::format("const int {} = ({}) % {} * {};", first, piece, pieces_of_block_, s_.shared->steps));
  return first;
}

std::string Staging::steps_left(const std::string& piece) {
  const std::string left = scalars_.claim("steps_left");
  if (c_.depth[s_.depth.level].extent % s_.depth.turns == 0) terms_ = std::to_string(s_.depth.turns * s_.depth.inside);
  else (void)begin_block(piece);
  text_.line(fmt::format("const int {} = {} - {} % {} * {};", left, terms_, piece, pieces_of_block_, s_.shared->steps));
  return left;
}

bool Staging::has_whole_pieces() const {
  const compiled::DepthWalk& walk = s_.depth;
  return c_.depth[walk.level].extent % walk.turns == 0 && walk.turns * walk.inside % s_.shared->steps == 0;
}

// --- numbers ---

/// Each thread's share of a piece of what goes through registers, on its way while the piece before is multiplied.
void Staging::fetch(const std::string& piece) {
  text_.open("");
  const std::string first = locate_step(piece);
  for (const Side* side : sides()) {
    if (side->copied == 0) fetch(*side, first);
  }
  text_.close();
}

/// Each thread's share of a piece of what is copied.
void Staging::copy(const std::string& piece) {
  const std::string first = locate_step(piece);
  for (const Side* side : sides()) {
    if (side->copied == 0) continue;
    const std::string to = scalars_.claim(side->memory + "_later");
    text_.line(fmt::format("{} *const {} = {};", number_type(), to, stage(*side, piece)));
    copy(*side, first, to);
  }
}

/// Opens the loop over a thread's share, some neighbours at a time. \returns what numbers the share, the step and the row or column
Staging::Share Staging::open_share(const Side& side, std::int64_t numbers) {
  const Share share{scalars_.claim("i"), scalars_.claim("step"), scalars_.claim("n")};
  const std::int64_t all = s_.shared->steps * side.tile / numbers;
  open_unrolled(text_, share.number, compiled::parts(all, threads_));
  const std::string e = scalars_.claim("e");
  text_.line(fmt::format("const int {} = {} + {} * {};", e, thread_, share.number, threads_));
  if (all % threads_ != 0) text_.line(fmt::format("if ({} >= {}) break;", e, all));
  const auto& [inner, outer] = side.by_steps ? std::pair{share.step, share.along} : std::pair{share.along, share.step};
  const std::int64_t neighbours = (side.by_steps ? s_.shared->steps : side.tile) / numbers;
  text_.line(fmt::format("const int {} = {} % {}{}, {} = {} / {};", inner, e, neighbours, numbers == 1 ? "" : fmt::format(" * {}", numbers), outer, e, neighbours));
  return share;
}

/// Declares the term and the row or column of an element. \returns where it is inside of the tile and of the depth; empty where it always
/// is
std::string Staging::bind_element(const Side& side, const std::string& first, const Share& share, std::string& term) {
  term = scalars_.claim("term");
  const std::string along = scalars_.bind(side.along);
  text_.line(fmt::format("const int {} = {} + {};", term, first, share.step));
  text_.line(fmt::format("const {} {} = {} + {};", index_, along, side.first, share.along));
  std::string inside = has_whole_pieces() ? "" : fmt::format("{} < {}", term, terms_);
  if (side.along.extent % side.tile != 0) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", along, literal(side.along.extent));
  return inside;
}

void Staging::fetch(const Side& side, const std::string& first) {
  const Share share = open_share(side);
  std::string term;
  const std::string inside = bind_element(side, first, share, term);
  text_.line(fmt::format("{}[{}] = 0;", side.next, share.number));
  if (!side.guards.empty()) text_.line(fmt::format("{}_counts[{}] = false;", side.next, share.number));
  text_.open(inside.empty() ? "" : fmt::format("if ({})", inside));
  bind_depth(term);
  for (const Expr& guard : side.guards) text_.open(fmt::format("if ({})", scalars_.value(guard, text_)));
  if (!side.guards.empty()) text_.line(fmt::format("{}_counts[{}] = true;", side.next, share.number));
  text_.line(fmt::format("{}[{}] = {};", side.next, share.number, scalars_.value(side.factor, real_, text_)));
  for (std::size_t g = 0; g < side.guards.size(); ++g) text_.close();
  text_.close();
  text_.close();
}

/// All elements of a copy are inside, or none is; of one that is not no address is computed.
void Staging::copy(const Side& side, const std::string& first, const std::string& to) {
  const Share share = open_share(side, side.copied / static_cast<std::int64_t>(size_of(system_[side.factor->tensor].dtype)));
  std::string term;
  std::string inside = bind_element(side, first, share, term);
  bind_depth(term);
  if (!inside.empty()) {
    const std::string asked = scalars_.claim("inside");
    text_.line(fmt::format("const bool {} = {};", asked, inside));
    inside = asked;
  }
  const std::string element = scalars_.element(side.factor->tensor, side.factor->args, text_);
  const std::string tensor = element.substr(0, element.find('['));
  const std::string from = inside.empty() ? "&" + element : fmt::format("{} ? &{} : {}", inside, element, tensor);
  text_.line(copying(side.copied, fmt::format("{} + {}", to, place_of(side, share)), from, inside));
  text_.close();
}

/// Of a number in a piece.
std::string Staging::place_of(const Side& side, const Share& share) const {
  if (fragments_ != nullptr) return fmt::format("{} * {} + {}", share.along, fragments_->row_numbers(), share.step);
  return fmt::format("{} * {} + {}", share.step, side.tile + side_padding, share.along);
}

/// What was fetched goes where all threads see it.
void Staging::put(const Side& side) {
  const Share share = open_share(side);
  const std::string next = fmt::format("{}[{}]", side.next, share.number);
  text_.line(fmt::format("{}[{}] = {};", side.numbers, place_of(side, share), fragments_ != nullptr ? fragments_->narrowed(next, side.held) : next));
  if (!side.guards.empty()) text_.line(fmt::format("{}[{} * {} + {}] = {}_counts[{}];", side.counts, share.step, side.tile, share.along, side.next, share.number));
  text_.close();
}

/// What the loops of the depth are at a term of the block.
void Staging::bind_depth(const std::string& term) {
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

}  // namespace etalon::cuda
