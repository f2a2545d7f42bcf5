#include "compiled/emit/text/nests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiled/ir/language.hpp"
#include "spec/error.hpp"
#include "spec/half.hpp"

namespace etalon::compiled::source {

using loops::Loop;
using loops::Reduce;
using loops::Step;
using loops::Type;
using spec::Reduction;

namespace {

bool is_position(Reduction r) { return r == Reduction::argmax || r == Reduction::argmin; }
bool is_extremum(Reduction r) { return r == Reduction::max || r == Reduction::min || is_position(r); }
bool is_real(Type t) { return t == Type::f32 || t == Type::f64; }

std::string neutral(Reduction r, Type type) {
  switch (r) {
    case Reduction::sum: return "0";
    case Reduction::prod: return "1";
    case Reduction::any: return "false";
    case Reduction::all: return "true";
    case Reduction::max:
    case Reduction::argmax: return is_real(type) ? "-INFINITY" : "INT64_MIN";
    case Reduction::min:
    case Reduction::argmin: return is_real(type) ? "INFINITY" : "INT64_MAX";
  }
  return "";
}

std::string next_of(const std::string& i, std::int64_t step) { return step == 1 ? "++" + i : fmt::format("{} += {}", i, step); }

}  // namespace

void Steps::own(const loops::Nest& nest, const std::string& scratch) {
  for (const loops::Buffer& own : nest.buffers) {
    if (own.scope != loops::Scope::thread) continue;
    const DType dtype = system_[own.tensor].dtype;
    const std::string type(element_type(dtype));
    if (own.offset && !scratch.empty()) {
      text_->line(fmt::format("{0} *const {1} = ({0} *)(void *)({2} + {3});", type, scalars_.own(own.tensor), scratch, *own.offset));
      continue;
    }
    const std::int64_t count = std::max<std::int64_t>(1, own.bytes / static_cast<std::int64_t>(size_of(dtype)));
    text_->line(fmt::format("{} {}[{}];", type, scalars_.own(own.tensor), count));
  }
}

void Steps::all(const std::vector<Step>& steps) {
  for (const Step& s : steps) std::visit([&](const auto& one) { step(one, s); }, s.is);
}

Steps::Walk Steps::walk_of(const Loop& loop) const {
  if (loop.in_lanes()) throw InternalError("emit: a loop in lanes has no text");
  return {};
}

void Steps::open(const Loop& loop) {
  const Walk walk = walk_of(loop);
  const std::string i = scalars_.bind(loop.binder);
  const std::string limit = loop.limit.valid() ? fmt::format(" && {} < {}", i, scalars_.value(loop.limit, *text_)) : "";
  if (walk.unroll) text_->raw("#pragma unroll 4");
  text_->open(fmt::format("for ({5} {0} = {1}; {0} < {2}{3}; {4})", i, walk.first, literal(loop.binder.extent), limit, next_of(i, walk.step), index_));
}

void Steps::step(const Loop& loop, const Step&) {
  open(loop);
  all(loop.steps);
  text_->close();
}

void Steps::step(const loops::Contract&, const Step&) { throw InternalError("emit: a contraction in tiles has no text"); }
void Steps::step(const loops::Transpose&, const Step&) { throw InternalError("emit: squares in registers have no text"); }

void Steps::step(const loops::Define& d, const Step& s) {
  scalars_.set_real(s.real);
  const bool half = spec::is_half(d.dtype);
  Type type = scalars_.type_of(d.value);
  std::string value;
  if (is_real(type)) {
    const Type held = half || d.dtype == DType::f32 ? Type::f32 : Type::f64;
    value = scalars_.value(d.value, half ? type : held, *text_);
    if (half) value = scalars_.widened(scalars_.narrowed(value, type, d.dtype), d.dtype);
    type = held;
  } else {
    value = scalars_.value(d.value, *text_);
    if (d.dtype == DType::i32) value = fmt::format("(int64_t)(int32_t)({})", value);
  }
  text_->line(fmt::format("const {} {} = {};", type_name(type), scalars_.define(d.target, type), value));
}

void Steps::step(const loops::Store& store, const Step& s) {
  scalars_.set_real(s.real);
  const DType dtype = system_[store.tensor].dtype;
  const bool guarded = store.guard.valid() && !is_true(store.guard);
  if (guarded) text_->open(fmt::format("if ({})", scalars_.value(store.guard, *text_)));
  const Type type = scalars_.stored_type(store.value, dtype);
  const std::string value = scalars_.value(store.value, type, *text_);
  const std::string element = scalars_.element(store.tensor, store.place, *text_);
  if (!store.add) {
    text_->line(fmt::format("{} = {};", element, scalars_.narrowed(value, type, dtype)));
  } else if (is_real(type) && !spec::is_half(dtype)) {
    text_->line(fmt::format("{} += {};", element, value));
  } else {
    const std::string old = scalars_.widened(element, dtype);
    const std::string sum = is_real(type) ? fmt::format("{} + {}", old, value) : joined(Reduction::sum, Type::i64, old, value);
    text_->line(fmt::format("{} = {};", element, scalars_.narrowed(sum, type, dtype)));
  }
  if (guarded) text_->close();
}

// --- reductions ---

/// Whether somebody asks if there was a term.
bool Steps::has_terms_flag(const Reduce& r) { return is_position(r.reduction) || (is_extremum(r.reduction) && r.otherwise.valid()); }

Steps::Partial Steps::declare(const Reduce& r) {
  Partial p;
  p.type = scalars_.type_of(r.body);
  declare_terms(r, p, scalars_.define(r.target, is_position(r.reduction) ? Type::i64 : p.type));
  return p;
}

/// What begins with no term, under that name.
void Steps::declare_terms(const Reduce& r, Partial& p, const std::string& name) {
  const bool at = is_position(r.reduction);
  p.value = name;
  text_->line(fmt::format("{} {} = {};", type_name(at ? Type::i64 : p.type), p.value, at ? "0" : neutral(r.reduction, p.type)));
  if (at) {
    p.best = scalars_.claim(p.value + "_best");
    text_->line(fmt::format("{} {} = {};", type_name(p.type), p.best, neutral(r.reduction, p.type)));
  }
  if (has_terms_flag(r)) {
    p.found = scalars_.claim(p.value + "_found");
    text_->line(fmt::format("bool {} = false;", p.found));
  }
}

/// Where sums of blocks wait, in a scope of its own: sums that follow each other need no more of the stack than one of them.
void Steps::open_blocks(const Reduce& r, Partial& p) {
  p.sums = scalars_.claim(p.value + "_sums");
  p.blocks = scalars_.claim(p.value + "_blocks");
  text_->open("");
  text_->line(fmt::format("{} {}[{}];", type_name(p.type), p.sums, std::bit_width(static_cast<std::uint64_t>(count_of(*r.tree.blocks, r.loops)))));
  text_->line(fmt::format("int64_t {} = 0;", p.blocks));
}

void Steps::step(const Reduce& r, const Step& s) {
  if (r.tree.chains > 1) throw InternalError("emit: chains side by side have no text");
  scalars_.set_real(s.real);
  Partial partial = declare(r);
  const bool asked = r.reached.valid() && !is_true(r.reached);
  if (asked) text_->open(fmt::format("if ({})", scalars_.value(r.reached, *text_)));
  add_up(r, s, partial);
  otherwise(r, partial);
  if (asked) text_->close();
}

/// All terms that are taken, into the value.
void Steps::add_up(const Reduce& r, const Step& s, Partial& partial) {
  if (r.tree.blocks) open_blocks(r, partial);
  inside(r, 0, s, partial);
  if (!r.tree.blocks) return;
  text_->line(fmt::format("{} = {}({}, {}, 0);", partial.value, scalars_.functions().use("join", type_suffix(partial.type)), partial.sums, partial.blocks));
  text_->close();
}

void Steps::inside(const Reduce& r, std::size_t level, const Step& s, const Partial& partial) {
  if (level == r.loops.size()) {
    scalars_.set_real(s.real);
    return accumulate(r, partial);
  }
  if (r.tree.blocks && level == r.tree.blocks->level) return in_blocks(r, s, partial);
  open(r.loops[level]);
  all(r.loops[level].steps);
  inside(r, level + 1, s, partial);
  text_->close();
}

std::pair<std::string, std::string> Steps::stretch_of(const Reduce& r) const { return {"0", literal(r.loops[r.tree.blocks->level].binder.extent)}; }

/// The loop that falls into blocks: each is added up from zero.
void Steps::in_blocks(const Reduce& r, const Step& s, const Partial& partial) {
  const Loop& loop = r.loops[r.tree.blocks->level];
  const Walk walk = walk_of(loop);
  const std::int64_t extent = loop.binder.extent;
  const std::int64_t turns = r.tree.blocks->turns * walk.step;
  const std::string first = scalars_.claim(loop.binder.name + "_block");
  const auto [begin, end] = stretch_of(r);
  text_->open(fmt::format("for ({4} {0} = {1}; {0} < {2}; {0} += {3})", first, begin, end, literal(turns), index_));
  text_->line(fmt::format("{} = 0;", partial.value));
  const std::string i = scalars_.bind(loop.binder);
  const std::string last = extent % turns == 0
                               ? fmt::format("{} < {} + {}", i, first, literal(turns))
                               : fmt::format("{0} < {1} + {2} && {0} < {3}", i, first, literal(turns), literal(extent));
  if (walk.unroll) text_->raw("#pragma unroll 4");
  text_->open(fmt::format("for ({} {} = {}; {}; {})", index_, i, walk.first == "0" ? first : first + " + " + walk.first, last, next_of(i, walk.step)));
  all(loop.steps);
  inside(r, r.tree.blocks->level + 1, s, partial);
  text_->close();
  text_->line(fmt::format("{0} = {1}({2}, {0}, {3});", partial.blocks, scalars_.functions().use("wait", type_suffix(partial.type)),
                          partial.sums, partial.value));
  text_->close();
}

std::string Steps::joined(Reduction reduction, Type type, const std::string& a, const std::string& b) {
  const auto function = [&](const char* name) {
    return fmt::format("{}({}, {})", scalars_.functions().use(name, type_suffix(type)), a, b);
  };
  switch (reduction) {
    case Reduction::sum: return is_real(type) ? fmt::format("{} + ({})", a, b) : function("add");
    case Reduction::prod: return is_real(type) ? fmt::format("{} * ({})", a, b) : function("mul");
    case Reduction::any: return fmt::format("{} || ({})", a, b);
    case Reduction::all: return fmt::format("{} && ({})", a, b);
    case Reduction::max: return function("maximum");
    case Reduction::min: return function("minimum");
    default: throw InternalError("emit: positions are not joined");
  }
}

/// The first extremum; the first NaN counts as one.
void Steps::accumulate_position(const Reduce& r, const Partial& partial, const std::string& value) {
  const std::string v = scalars_.claim("v");
  text_->line(fmt::format("const {} {} = {};", type_name(partial.type), v, value));
  const char* better = r.reduction == Reduction::argmax ? ">" : "<";
  const std::string nan = is_real(partial.type) ? fmt::format(" || (isnan({}) && !isnan({}))", v, partial.best) : "";
  text_->open(fmt::format("if (!{} || {} {} {}{})", partial.found, v, better, partial.best, nan));
  Expr number = spec::integer(0);
  for (const Loop& loop : r.loops) number = number * spec::integer(loop.binder.extent) + spec::variable(loop.binder);
  text_->line(fmt::format("{} = {};", partial.best, v));
  text_->line(fmt::format("{} = {};", partial.value, scalars_.value(number, *text_)));
  text_->close();
}

void Steps::accumulate(const Reduce& r, const Partial& partial) {
  const bool guarded = !is_true(r.guard);
  if (guarded) text_->open(fmt::format("if ({})", scalars_.value(r.guard, *text_)));
  const std::string value = scalars_.value(r.body, partial.type, *text_);
  if (is_position(r.reduction)) {
    accumulate_position(r, partial, value);
  } else if (is_real(partial.type) && (r.reduction == Reduction::sum || r.reduction == Reduction::prod)) {
    text_->line(fmt::format("{} {}= {};", partial.value, r.reduction == Reduction::sum ? "+" : "*", value));
  } else {
    text_->line(fmt::format("{} = {};", partial.value, joined(r.reduction, partial.type, partial.value, value)));
  }
  if (!partial.found.empty()) text_->line(partial.found + " = true;");
  if (guarded) text_->close();
}

/// What stands for the result of no terms.
void Steps::otherwise(const Reduce& r, const Partial& partial) {
  if (!r.otherwise.valid()) return;
  const Type type = is_position(r.reduction) ? Type::i64 : partial.type;
  text_->open(fmt::format("if (!{})", partial.found));
  text_->line(fmt::format("{} = {};", partial.value, scalars_.value(r.otherwise, type, *text_)));
  text_->close();
}

}  // namespace etalon::compiled::source
