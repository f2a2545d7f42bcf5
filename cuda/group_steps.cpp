#include "cuda/group_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/depth.hpp"
#include "cuda/counting.hpp"
#include "cuda/joining.hpp"
#include "cuda/tile_steps.hpp"
#include "cuda/warp_loops.hpp"

namespace etalon::cuda {

using compiled::loops::Type;
using compiled::source::literal;
using compiled::source::type_name;
using compiled::source::type_suffix;
using spec::Reduction;

namespace {

bool writes(const compiled::loops::Step& step) {
  const compiled::loops::Accesses all = compiled::loops::accesses_of(step);
  return std::any_of(all.elements.begin(), all.elements.end(), [](const compiled::loops::Access& a) { return a.write; });
}

/// What threads hand to each other has a type that shuffles know.
std::string shuffled(std::string_view how, Type type, const std::string& value, const std::string& by) {
  if (type == Type::boolean) return fmt::format("__shfl{}(0xffffffffu, (int){}, {}) != 0", how, value, by);
  return fmt::format("__shfl{}(0xffffffffu, {}, {})", how, value, by);
}

}  // namespace

GroupSteps::GroupSteps(compiled::source::Scalars& scalars, const spec::System& system, compiled::source::Text& text, const Grid& grid,
                       std::string_view index,
                       const Joining* joining)
    : Steps(scalars, system, text, index), grid_(grid), group_(grid.group), joining_(joining) {}

std::string GroupSteps::shared_at(std::int64_t offset, std::string_view type) const { return fmt::format("({} *)({} + {})", type, shared_, offset); }

void GroupSteps::begin(const compiled::loops::Nest& nest, const std::string& arena) {
  nest_ = &nest;
  thread_ = scalars_.claim("thread");
  text_->line(is_block() ? fmt::format("const int {} = threadIdx.x;", thread_) : fmt::format("const int {} = threadIdx.x % {};", thread_, warp));
  if (grid_.shared_bytes > 0) {
    const std::string all = scalars_.claim("all_shared");
    shared_ = scalars_.claim("shared");
    text_->line(fmt::format("extern __shared__ double {}[];", all));
    const std::string first = is_block() || grid_.own_bytes == 0 ? "" : fmt::format(" + {} * (threadIdx.x / {})", grid_.own_bytes, warp);
    text_->line(fmt::format("char *const {} = (char *){}{};", shared_, all, first));
  }
  declare_own(nest, arena);
}

void GroupSteps::declare_own(const compiled::loops::Nest& nest, const std::string& arena) {
  std::string memory = shared_;
  if (grid_.arena_bytes > 0) {
    memory = scalars_.claim("own");
    text_->line(fmt::format("char *const {} = {} + (int64_t)blockIdx.x * {};", memory, arena, grid_.arena_bytes));
  }
  std::int64_t offset = 0;
  for (const compiled::loops::Buffer& own : nest.buffers) {
    if (own.scope != compiled::loops::Scope::thread) continue;
    const std::string_view type = compiled::source::element_type(system_[own.tensor].dtype);
    text_->line(fmt::format("{0} *const {1} = ({0} *)({2} + {3});", type, scalars_.own(own.tensor), memory, offset));
    offset += room_of(own);
  }
}

void GroupSteps::wait() {
  text_->line(is_block() ? "__syncthreads();" : "__syncwarp();");
  may_read_ = false;
}

/// What is written may lie where something was read.
void GroupSteps::before_writing() {
  if (may_read_) wait();
}

std::string GroupSteps::number() const { return is_block() ? fmt::format("({})blockIdx.x", index_) : fmt::format("(({})blockIdx.x * blockDim.x + threadIdx.x) / {}", index_, warp); }
std::string GroupSteps::count() const { return is_block() ? fmt::format("({})gridDim.x", index_) : fmt::format("({})gridDim.x * blockDim.x / {}", index_, warp); }

// --- loops ---

compiled::source::Steps::Walk GroupSteps::walk_of(const Loop& loop) const {
  if (&loop == in_warps_) return {first_warp_turn_, grid_.group / warp, false};
  if (!loop.in_lanes()) return {};
  if (!chain_.empty()) return {chain_, team_.chains, true};
  return {thread_, group_, true};
}

std::pair<std::string, std::string> GroupSteps::stretch_of(const Reduce& r) const {
  if (team_.parts == 1 || chain_.empty()) return Steps::stretch_of(r);
  return {stretch_begin_, stretch_end_};
}

void GroupSteps::step(const Loop& loop, const Step& s) {
  if (alone_) return Steps::step(loop, s);
  if (is_block() && is_of_warps(system_, *nest_, loop)) return in_warps(loop, s);
  if (!loop.in_lanes()) {
    may_read_ = true;  // in the turn before
    Steps::step(loop, s);
    may_read_ = true;
    return;
  }
  const bool written = writes(s);
  if (written) before_writing();
  alone_ = true;
  Steps::step(loop, s);
  alone_ = false;
  may_read_ = true;
  if (written) wait();
}

/// Turns that are apart are warps', so that nobody waits for other warps within them.
void GroupSteps::in_warps(const Loop& loop, const Step& s) {
  before_writing();
  const std::string thread = std::exchange(thread_, scalars_.claim("lane"));
  text_->open("");
  text_->line(fmt::format("const int {} = {} % {};", thread_, thread, warp));
  first_warp_turn_ = fmt::format("{} / {}", thread, warp);
  in_warps_ = &loop;
  group_ = warp;
  may_read_ = true;
  Steps::step(loop, s);
  group_ = grid_.group;
  in_warps_ = nullptr;
  text_->close();
  thread_ = thread;
  wait();
}

void GroupSteps::step(const compiled::loops::Define& d, const Step& s) {
  Steps::step(d, s);
  may_read_ = true;
}

void GroupSteps::step(const compiled::loops::Store& store, const Step& s) {
  if (alone_) return Steps::step(store, s);
  before_writing();
  text_->open(fmt::format("if ({} == 0)", thread_));
  Steps::step(store, s);
  text_->close();
  wait();
}

void GroupSteps::step(const compiled::loops::Contract& c, const Step& s) {
  if (alone_) return Steps::step(c, s);
  alone_ = true;
  const std::int64_t before = grid_.own_bytes + grid_.exchange_bytes;
  TileSteps(scalars_, system_, *text_, c, thread_, before == 0 ? shared_ : fmt::format("{} + {}", shared_, before), index_).write(s, [&] { all(c.steps); });
  alone_ = false;
  if (has_tiles_among_steps(*nest_)) wait();
}

// --- reductions ---

void GroupSteps::step(const Reduce& r, const Step& s) {
  if (alone_) return Steps::step(r, s);
  const bool written = std::any_of(r.loops.begin(), r.loops.end(), [](const Loop& loop) { return std::any_of(loop.steps.begin(), loop.steps.end(), writes); });
  if (written) before_writing();
  may_read_ = true;
  if (r.tree.chains == 1) return Steps::step(r, s);
  scalars_.set_real(s.real);
  const Partial result = declare(r);
  const bool asked = r.reached.valid() && !r.reached.is_integer(1);
  if (asked) text_->open(fmt::format("if ({})", scalars_.value(r.reached, *text_)));
  chains(r, s, result);
  otherwise(r, result);
  if (asked) text_->close();
  if (written) wait();
}

/// Each thread's chains, one after the other, and then their tree.
void GroupSteps::chains(const Reduce& r, const Step& s, const Partial& result) {
  team_ = team_of(r, group_);
  if (joining_ != nullptr && joining_->split.reduce == &r) team_ = joining_->split.rounds ? Team{r.tree.chains, group_ / r.tree.chains} : Team{group_, 1};
  const std::int64_t each = std::max<std::int64_t>(1, team_.chains / group_);
  text_->open("");
  chain_ = scalars_.claim("chain");
  if (joining_ != nullptr && joining_->split.reduce == &r) found_chain(r, result);
  else if (has_terms(r, s) && result.type == s.real) chain_of_terms(r, s, result);
  else if (each == 1) single_chain(r, s, result);
  else several_chains(r, s, result, each);
  chain_.clear();
  join(r.reduction, result.type, result.value, std::min(team_.chains, group_));
  if (!result.found.empty()) {
    team_ = {group_, 1};
    join(Reduction::any, Type::boolean, result.found, group_);
  }
  text_->close();
}

/// One chain, or a part of one, for each thread that has any.
void GroupSteps::single_chain(const Reduce& r, const Step& s, const Partial& result) {
  const std::int64_t busy = team_.chains * team_.parts;
  text_->line(fmt::format("const int {} = {};", chain_, team_.chains == group_ ? thread_ : fmt::format("{} % {}", thread_, team_.chains)));
  if (busy < group_) text_->open(fmt::format("if ({} < {})", thread_, busy));
  if (team_.parts > 1) {
    stretch_begin_ = scalars_.claim("begin");
    stretch_end_ = scalars_.claim("end");
    const std::int64_t block = r.tree.blocks->turns * team_.chains, extent = r.loops.front().binder.extent;
    parts_ = parts_of(compiled::parts(extent, block), block, team_.parts);
    text_->line(fmt::format("const {0} {1} = ({0})({2} / {3}) * {4};", index_, stretch_begin_, thread_, team_.chains, literal(parts_.length)));
    text_->line(fmt::format("const {4} {0} = {1} + {2} < {3} ? {1} + {2} : {3};", stretch_end_, stretch_begin_, literal(parts_.length), literal(extent), index_));
  }
  Partial partial = result;
  add_up_alone(r, s, partial);
  if (busy < group_) text_->close();
}

bool GroupSteps::has_terms(const Reduce& r, const Step& s) const {
  const std::int64_t bytes = terms_bytes(r, s.real, group_);
  return bytes != 0 && bytes <= grid_.terms_bytes;
}

/// All threads compute terms, and those that have a chain add them up.
void GroupSteps::chain_of_terms(const Reduce& r, const Step& s, const Partial& result) {
  const Loop& loop = r.loops.front();
  const std::string terms = scalars_.claim("terms"), term = scalars_.claim("term"), chain = chain_, k = scalars_.claim("k"), number(type_name(result.type));
  text_->line(fmt::format("{} *const {} = {};", number, terms, shared_at(grid_.own_bytes + grid_.exchange_bytes, number)));
  chain_.clear();
  alone_ = true;
  open(loop);
  all(loop.steps);
  scalars_.set_real(s.real);
  const bool guarded = r.guard.form() != spec::Form::number;
  text_->line(fmt::format("{} {} = {};", number, term, r.reduction == Reduction::sum ? "0" : "1"));
  if (guarded) text_->open(fmt::format("if ({})", scalars_.value(r.guard, *text_)));
  text_->line(fmt::format("{} = {};", term, scalars_.value(r.body, result.type, *text_)));
  if (guarded) text_->close();
  text_->line(fmt::format("{}[{}] = {};", terms, scalars_.value(spec::variable(loop.binder), *text_), term));
  text_->close();
  alone_ = false;
  wait();
  text_->open(fmt::format("if ({} < {})", thread_, team_.chains));
  text_->raw("#pragma unroll 8");
  text_->line(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3}) {4} = {5};", k, thread_, literal(loop.binder.extent), team_.chains, result.value,
                          joined(r.reduction, result.type, result.value, fmt::format("{}[{}]", terms, k))));
  text_->close();
  chain_ = chain;
}

/// A chain whose parts another kernel has reduced: each thread joins some of them.
void GroupSteps::found_chain(const Reduce& r, const Partial& result) {
  const Split& split = joining_->split;
  if (split.rounds) {
    text_->line(fmt::format("const int {} = {} % {};", chain_, thread_, team_.chains));
    const auto each = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(compiled::parts(split.parts.count(), team_.parts))));
    const Stretch stretch{fmt::format("{} / {} * {}", thread_, team_.chains, each), each};
    text_->line(fmt::format("{} = {};", result.value, joined_sum(scalars_, *text_, result.type, split.parts, stretch, [&](const std::string& part) { return joining_->at(part, chain_, result.type); })));
    parts_ = {0, split.parts.whole / each, split.parts.rest || split.parts.whole % each != 0};
    return;
  }
  text_->open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", chain_, thread_, split.chains, group_));
  text_->line(fmt::format("{} = {};", result.value, joined(r.reduction, result.type, result.value, joining_->at("0", chain_, result.type))));
  text_->close();
}

void GroupSteps::several_chains(const Reduce& r, const Step& s, const Partial& result, std::int64_t each) {
  const std::string all = scalars_.claim("chains"), j = scalars_.claim("j");
  text_->line(fmt::format("{} {}[{}];", type_name(result.type), all, each));
  open_unrolled(*text_, j, each);
  text_->line(fmt::format("const int {} = {} + {} * {};", chain_, thread_, group_, j));
  Partial partial;
  partial.type = result.type;
  declare_terms(r, partial, scalars_.claim(result.value + "_chain"));
  add_up_alone(r, s, partial);
  text_->line(fmt::format("{}[{}] = {};", all, j, partial.value));
  if (!result.found.empty()) text_->line(fmt::format("{0} = {0} || {1};", result.found, partial.found));
  text_->close();
  const auto at = [&](std::int64_t c) { return fmt::format("{}[{}]", all, c); };
  for (std::int64_t n = each / 2; n >= 1; n /= 2) {
    for (std::int64_t c = 0; c < n; ++c) text_->line(fmt::format("{} = {};", at(c), joined(r.reduction, result.type, at(c), at(c + n))));
  }
  text_->line(fmt::format("{} = {};", result.value, at(0)));
}

void GroupSteps::add_up_alone(const Reduce& r, const Step& s, Partial& partial) {
  alone_ = true;
  add_up(r, s, partial);
  alone_ = false;
}

/// Joins the threads' chains. All threads have the result.
void GroupSteps::join(Reduction reduction, Type type, const std::string& value, std::int64_t chains) {
  if (is_block()) return join_in_block(reduction, type, value);
  join_in_warp(reduction, type, value, chains);
  text_->line(fmt::format("{} = {};", value, shuffled("_sync", type, value, "0")));
}

/// Chain c takes in chain c + n / 2, and so on with half as many. \param chains at most a warp's threads
void GroupSteps::join_in_warp(Reduction reduction, Type type, const std::string& value, std::int64_t chains) {
  if (chains < 2) return;
  // All lanes shuffle, whatever they have: what is joined may not be asked for.
  const std::string other = scalars_.claim("other");
  text_->line(fmt::format("{} {};", type_name(type), other));
  for (std::int64_t n = chains / 2; n >= 1; n /= 2) {
    text_->line(fmt::format("{} = {};", other, shuffled("_down_sync", type, value, std::to_string(n))));
    text_->line(fmt::format("{} = {};", value, joined(reduction, type, value, other)));
  }
}

/// By way of memory that the block shares, by its first warp.
void GroupSteps::join_in_block(Reduction reduction, Type type, const std::string& value) {
  const std::string result = scalars_.claim("result"), values = scalars_.claim("values"), c = scalars_.claim("c");
  text_->open("");
  text_->line(fmt::format("{} *const {} = {};", type_name(type), result, shared_at(grid_.own_bytes, type_name(type))));
  text_->line(fmt::format("{} *const {} = {};", type_name(type), values, shared_at(grid_.own_bytes + exchanged_bytes, type_name(type))));
  text_->line(fmt::format("if ({0} < {1}) {2}[{0}] = {3};", thread_, team_.chains * team_.parts, values, value));
  wait();
  text_->open(fmt::format("if ({} < {})", thread_, warp));
  text_->open(fmt::format("for (int {0} = {1}; {0} < {2}; {0} += {3})", c, thread_, team_.chains, warp));
  const std::string chain = team_.parts > 1 ? joined_parts(type, values, c) : fmt::format("{}[{}]", values, c);
  text_->line(fmt::format("{0} = {1} == {2} ? {3} : {4};", value, c, thread_, chain, joined(reduction, type, value, chain)));
  text_->close();
  join_in_warp(reduction, type, value, std::min(team_.chains, warp));
  text_->line(fmt::format("if ({} == 0) *{} = {};", thread_, result, value));
  text_->close();
  wait();
  text_->line(fmt::format("{} = *{};", value, result));
  text_->close();
}

/// \returns the identifier of the sum of a chain's parts
std::string GroupSteps::joined_parts(Type type, const std::string& values, const std::string& chain) {
  const Stretch all{"0", static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(parts_.count())))};
  return joined_sum(scalars_, *text_, type, parts_, all, [&](const std::string& part) { return fmt::format("{}[{} * {} + {}]", values, part, team_.chains, chain); });
}

}  // namespace etalon::cuda
