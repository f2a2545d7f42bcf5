#include "compiled/ir/parse_loops.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/line_reader.hpp"
#include "compiled/ir/schedule_lines.hpp"
#include "compiled/ir/text_lines.hpp"
#include "compiled/ir/tile_lines.hpp"
#include "spec/error.hpp"
#include "spec/notation/words.hpp"
#include "spec/quoted.hpp"

namespace etalon::compiled::loops {

namespace {

class Parser {
 public:
  Parser(const spec::System& system, std::string_view text, std::string_view file) : known_(system), lines_(text, file) {}

  std::vector<ParsedNest> all() {
    std::vector<ParsedNest> found;
    while (!lines_.at_end()) {
      const std::size_t line = lines_.next().number;
      found.push_back({kernel(), line});
    }
    return found;
  }

 private:
  [[nodiscard]] bool begins(std::size_t depth, std::string_view word) const { return lines_.at(depth) && LineReader(lines_.next(), known_).is(word); }

  // --- kernels ---

  Nest kernel() {
    Nest nest;
    LineReader head(lines_.take(0, "a kernel"), known_);
    head.expect("kernel");
    nest.name = head.name("the name of a kernel");
    head.expect("(");
    while (!head.is(")")) {
      Buffer b;
      const bool out = head.is_before_name() && head.accept("out");
      const bool inout = !out && head.is_before_name() && head.accept("inout");
      b.tensor = head.tensor();
      b.read = !out;
      b.written = out || inout;
      nest.buffers.push_back(b);
      if (!head.accept(",")) break;
    }
    head.expect(") of");
    nest.work = head.number();
    head.expect("operations :");
    head.end();
    while (lines_.at(1) && own(nest)) {}
    nest.steps = steps(1);
    if (!lines_.at_end() && !lines_.at(0)) lines_.refuse_deeper();
    return nest;
  }

  /// A line about a tensor: whether it was one.
  bool own(Nest& nest) {
    LineReader line(lines_.next(), known_);
    if (line.is_next("is")) {
      nest.zeroed.push_back(line.tensor());
      line.expect("is full of zeros");
    } else if (line.is_next("in")) {
      Buffer b{line.tensor(), Scope::thread, true, true, 0, {}};
      line.expect("in");
      b.bytes = line.integer(0, largest_extent);
      line.expect("bytes of the kernel's own");
      if (line.accept("from")) {
        b.offset = line.integer(0, largest_extent);
        line.expect("on");
      }
      nest.buffers.push_back(b);
    } else {
      return false;
    }
    line.end();
    lines_.take();
    return true;
  }

  // --- steps ---

  std::vector<Step> steps(std::size_t depth) {
    const std::size_t outside = known_.size();
    std::vector<Step> all;
    while (lines_.at(depth)) all.push_back(step(depth));
    known_.leave(outside);
    return all;
  }

  Step step(std::size_t depth) {
    LineReader line(lines_.take(), known_);
    if (line.is_next("[") || line.is("if")) return store(line);
    if (!line.accept("for")) return assigned(line, depth);
    if (line.is("tiles")) return tiles(line, depth);
    if (line.is("squares")) return squares(line, depth);
    Loop loop = head(line);
    const std::size_t outside = known_.size();
    known_.enter(loop.binder);
    beside(loop, depth + 1);
    loop.steps = steps(depth + 1);
    known_.leave(outside);
    return {std::move(loop)};
  }

  static Type real(LineReader& line) {
    if (!line.accept("in")) return Type::f32;
    if (line.accept("f64")) return Type::f64;
    line.expect("f32");
    return Type::f32;
  }

  Loop head(LineReader& line) {
    Loop loop;
    loop.binder = line.binder();
    if (line.accept("in")) {
      loop.width = lanes(line);
      line.expect("lanes");
    }
    if (line.accept(",")) loop.bind = bind(line);
    if (line.accept("until")) loop.limit = line.value(Kind::integer, "an integer");
    line.expect(":");
    line.end();
    return loop;
  }

  static Bind bind(LineReader& line) {
    if (line.accept("one")) {
      line.expect("by one");
      return Bind::unrolled;
    }
    if (!line.accept("on")) line.fail("one by one, on cores or on a grid");
    if (line.accept("cores")) return Bind::cores;
    line.expect("a grid");
    return Bind::grid;
  }

  static unsigned lanes(LineReader& line) { return static_cast<unsigned>(line.integer(1, most_lanes)); }

  /// The lines below a loop's own that are no steps.
  void beside(Loop& loop, std::size_t depth) {
    while (begins(depth, "merged")) loop.merged.push_back(LineReader(lines_.take(), known_).rest());
    while (lines_.at(depth)) {
      LineReader line(lines_.next(), known_);
      if (line.is_next("[") || !line.accept("fetches")) return;
      FetchedRow row{line.read(), line.accept("to")};
      if (row.write) line.expect("be written");
      line.end();
      loop.fetched.push_back(std::move(row));
      lines_.take();
    }
  }

  Step store(LineReader& line) {
    Step s;
    Store store;
    if (line.accept("if")) {
      store.guard = line.condition();
      line.expect(":");
    }
    const Expr element = line.read();
    store.tensor = element->tensor;
    store.place = element->args;
    store.add = line.accept("+");
    line.expect("=");
    store.value = line.value(known_.kind(store.tensor), "a value of the tensor's kind");
    s.real = real(line);
    store.streamed = line.accept(",");
    if (store.streamed) line.expect("around the caches");
    line.end();
    s.is = std::move(store);
    return s;
  }

  /// A register: an expression or a reduction.
  Step assigned(LineReader& line, std::size_t depth) {
    const Register target = line.target();
    line.expect("=");
    for (const auto r : {spec::Reduction::sum, spec::Reduction::prod, spec::Reduction::max, spec::Reduction::min, spec::Reduction::any, spec::Reduction::all,
                         spec::Reduction::argmax, spec::Reduction::argmin}) {
      if (line.accept(name_of(r))) return reduction(line, target, r, depth);
    }
    Define d{target, line.value()};
    d.dtype = default_type(d.value.kind());
    if (line.accept("as")) {
      const auto dtype = dtype_named(line.name("a type"));
      if (!dtype || kind_of(*dtype) != d.value.kind()) line.fail("a type of the value's kind before this");
      d.dtype = *dtype;
    }
    Step s;
    s.real = real(line);
    line.end();
    known_.define(target, d.value.kind());
    s.is = std::move(d);
    return s;
  }

  // --- reductions ---

  Step reduction(LineReader& line, Register target, spec::Reduction reduction, std::size_t depth) {
    const TextLine& head = lines_.last();
    Step s;
    Reduce r;
    r.target = target;
    r.reduction = reduction;
    std::optional<std::string> of;
    while (line.accept("in")) {
      if (line.accept("f64")) s.real = Type::f64;
      else if (line.accept("blocks")) of = blocks(line, r);
      else r.tree.chains = chains(line);
    }
    if (line.accept("if")) r.reached = line.condition();
    line.expect(":");
    line.end();
    const std::size_t outside = known_.size();
    inside(r, depth + 1);
    known_.leave(outside);
    if (of) r.tree.blocks->level = level(r, *of, head);
    if (begins(depth + 1, "else")) r.otherwise = otherwise(r);
    known_.define(target, kind_of(r));
    s.is = std::move(r);
    return s;
  }

  static unsigned chains(LineReader& line) {
    const unsigned found = lanes(line);
    line.expect("chains");
    return found;
  }

  static std::string blocks(LineReader& line, Reduce& r) {
    line.expect("of");
    r.tree.blocks = {0, line.integer(1, largest_extent)};
    line.expect("turns of");
    return line.name("a loop of the reduction");
  }

  static std::size_t level(const Reduce& r, const std::string& name, const TextLine& head) {
    const auto found = std::find_if(r.loops.begin(), r.loops.end(), [&](const Loop& l) { return name_of(l.binder) == name; });
    if (found == r.loops.end()) head.refuse(fmt::format("expected a loop of the reduction, found '{}'", as_quoted(name)), head.text.find(name) + 1);
    return static_cast<std::size_t>(found - r.loops.begin());
  }

  /// A loop with the steps that the term needs, or the term.
  void inside(Reduce& r, std::size_t depth) {
    while (true) {
      LineReader line(lines_.take(depth, "a loop or a term of the reduction"), known_);
      if (line.accept("over")) {
        r.loops.push_back(head(line));
        known_.enter(r.loops.back().binder);
        beside(r.loops.back(), ++depth);
      } else if (line.accept("term")) {
        return term(line, r);
      } else {
        if (r.loops.empty()) line.fail("over or term");
        lines_.put_back();
        r.loops.back().steps.push_back(step(depth));
      }
    }
  }

  static void term(LineReader& line, Reduce& r) {
    const bool logical = r.reduction == spec::Reduction::any || r.reduction == spec::Reduction::all;
    r.body = line.value();
    if ((r.body.kind() == Kind::boolean) != logical) line.fail(logical ? "a condition before this" : "a number before this");
    r.guard = line.accept("where") ? line.condition() : spec::boolean(true);
    line.end();
  }

  Expr otherwise(const Reduce& r) {
    LineReader line(lines_.take(), known_);
    line.expect("else");
    Expr value = line.value(kind_of(r), "a value of the reduction's kind");
    line.end();
    return value;
  }

  // --- tiles and squares ---

  Step squares(LineReader& line, std::size_t depth) {
    Transpose t;
    line.expect("squares of");
    t.width = lanes(line);
    line.expect("by");
    if (lanes(line) != t.width) line.fail("squares before this");
    line.expect(":");
    t.across = line.binder();
    line.expect(",");
    t.down = line.binder();
    Step s;
    s.real = real(line);
    line.expect(":");
    line.end();
    const std::size_t outside = known_.size();
    known_.enter(t.across);
    known_.enter(t.down);
    LineReader value(lines_.take(depth + 1, "a register"), known_);
    t.target = value.target();
    value.expect("=");
    t.value = value.value();
    value.end();
    known_.define(t.target, t.value.kind());
    LineReader stored(lines_.take(depth + 1, "a store"), known_);
    t.store = std::get<Store>(store(stored).is);
    known_.leave(outside);
    s.is = std::move(t);
    return s;
  }

  Step tiles(LineReader& line, std::size_t depth) {
    Contract c;
    line.expect("tiles of");
    c.row = line.binder();
    line.expect("and");
    c.column = line.binder();
    line.expect("from");
    c.first_row = line.value(Kind::integer, "an integer");
    line.expect(",");
    c.first_column = line.value(Kind::integer, "an integer");
    Step s;
    s.real = real(line);
    line.expect(":");
    line.end();
    const std::size_t outside = known_.size();
    ++depth;
    read_schedule(c.schedule, known_, [&](std::string_view word, bool must) -> const TextLine* {
      return must || begins(depth, word) ? &lines_.take(depth, fmt::format("the line '{}'", word)) : nullptr;
    });
    known_.enter(c.row);
    known_.enter(c.column);
    if (begins(depth, "only")) c.wanted = read_wanted(lines_.take(), known_);
    while (begins(depth, "each")) c.ahead.push_back(read_ahead(lines_.take(), known_));
    read_sum(c, lines_.take(depth, "a sum of products"), known_);
    c.steps = steps(depth);
    known_.leave(outside);
    s.is = std::move(c);
    return s;
  }

  KnownNames known_;
  TextLines lines_;
};

}  // namespace

std::vector<ParsedNest> parse_nests(const spec::System& system, std::string_view text, std::string_view file) {
  return Parser(system, text, file).all();
}

Nest parse_nest(const spec::System& system, std::string_view text) {
  std::vector<ParsedNest> all = parse_nests(system, text, "loops");
  if (all.size() != 1) throw SpecViolation(fmt::format("loops:1:1: expected one kernel, found {}", all.size()));
  return std::move(all.front().nest);
}

}  // namespace etalon::compiled::loops
