#include <fmt/format.h>

#include <array>
#include <utility>

#include "compiled/ir/known_names.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/listing.hpp"
#include "compiled/ir/schedule_lines.hpp"

namespace etalon::compiled::loops {

namespace {

class Printer {
 public:
  explicit Printer(const spec::System& system) : known_(system) {}

  std::string all;
  std::unordered_map<const void*, unsigned> lines;

  void nest(const Nest& nest) {
    at(&nest);
    line(0, fmt::format("kernel {}({}) of {} operations:", nest.name, arguments(nest), nest.work));
    for (const Buffer& own : nest.buffers) {
      if (own.scope != Scope::thread) continue;
      const std::string where = own.offset ? fmt::format(" from {} on", *own.offset) : "";
      line(1, fmt::format("{} in {} bytes of the kernel's own{}", known_.name_of(own.tensor), own.bytes, where));
    }
    for (const TensorId id : nest.zeroed) line(1, known_.name_of(id) + " is full of zeros");
    steps(nest.steps, 1);
  }

 private:
  void steps(const std::vector<Step>& several, int depth) {
    const std::size_t outside = known_.size();
    for (const Step& s : several) one(s, depth);
    known_.leave(outside);
  }

  void one(const Step& s, int depth) {
    at(&s);
    std::visit([&](const auto& what) { step(what, s, depth); }, s.is);
  }

  /// The part's line is the next one.
  void at(const void* part) { lines[part] = next_; }

  void line(int depth, const std::string& what) {
    all += std::string(static_cast<std::size_t>(depth) * 2, ' ') + what + "\n";
    ++next_;
  }

  std::string text(const Expr& e) const { return known_.text(e); }
  std::string text(const char* before, const Expr& e) const { return e.valid() ? before + known_.text(e) : ""; }
  static std::string range(const Binder& b) { return fmt::format("{} < {}", name_of(b), b.extent); }
  static const char* type(const Step& s) { return s.real == Type::f64 ? " in f64" : ""; }

  std::string arguments(const Nest& nest) const {
    std::string list;
    for (const Buffer& b : nest.buffers) {
      if (b.scope != Scope::argument) continue;
      list += fmt::format("{}{}{}", list.empty() ? "" : ", ", !b.written ? "" : b.read ? "inout " : "out ", known_.name_of(b.tensor));
    }
    return list;
  }

  void head(const char* word, const Loop& loop, int depth) {
    constexpr std::array<const char*, 4> taken{"", ", one by one", ", on cores", ", on a grid"};
    const std::string lanes = loop.in_lanes() ? fmt::format(" in {} lanes", loop.width) : "";
    line(depth, fmt::format("{} {}{}{}{}:", word, range(loop.binder), lanes, taken.at(static_cast<std::size_t>(loop.bind)), text(" until ", loop.limit)));
    known_.enter(loop.binder);
    for (const std::string& reason : loop.merged) line(depth + 1, "merged " + reason);
    for (const FetchedRow& row : loop.fetched) line(depth + 1, fmt::format("fetches {}{}", text(row.element), row.write ? " to be written" : ""));
  }

  void step(const Loop& loop, const Step&, int depth) {
    const std::size_t outside = known_.size();
    head("for", loop, depth);
    steps(loop.steps, depth + 1);
    known_.leave(outside);
  }

  std::string tree(const Reduce& r) const {
    std::string words;
    if (r.tree.chains > 1) words += fmt::format(" in {} chains", r.tree.chains);
    if (r.tree.blocks) words += fmt::format(" in blocks of {} turns of {}", r.tree.blocks->turns, name_of(r.loops.at(r.tree.blocks->level).binder));
    return words;
  }

  void step(const Reduce& r, const Step& s, int depth) {
    line(depth, fmt::format("r{} = {}{}{}{}:", r.target, name_of(r.reduction), type(s), tree(r), text(" if ", r.reached)));
    const int begin = depth;
    const std::size_t outside = known_.size();
    for (const Loop& loop : r.loops) {
      at(&loop);
      head("over", loop, ++depth);
      for (const Step& inner : loop.steps) one(inner, depth + 1);
    }
    at(&r.body);
    line(depth + 1, fmt::format("term {}{}", text(r.body), is_true(r.guard) ? "" : text(" where ", r.guard)));
    known_.leave(outside);
    if (r.otherwise.valid()) line(begin + 1, "else " + text(r.otherwise));
    known_.define(r.target, kind_of(r));
  }

  void step(const Store& store, const Step& s, int depth) {
    std::string place;
    for (const Expr& p : store.place) place += (place.empty() ? "" : ", ") + text(p);
    line(depth, fmt::format("{}{}{}[{}] {} {}{}{}", text("if ", store.guard), store.guard.valid() ? ": " : "", known_.name_of(store.tensor), place,
                            store.add ? "+=" : "=", text(store.value), type(s), store.streamed ? ", around the caches" : ""));
  }

  void step(const Define& d, const Step& s, int depth) {
    const DType plain = default_type(d.value.kind());
    line(depth, fmt::format("r{} = {}{}{}", d.target, text(d.value), d.dtype == plain ? "" : fmt::format(" as {}", name_of(d.dtype)), type(s)));
    known_.define(d.target, d.value.kind());
  }

  void step(const Transpose& t, const Step& s, int depth) {
    line(depth, fmt::format("for squares of {} by {}: {}, {}{}:", t.width, t.width, range(t.across), range(t.down), type(s)));
    const std::size_t outside = known_.size();
    known_.enter(t.across);
    known_.enter(t.down);
    at(&t.target);
    line(depth + 1, fmt::format("r{} = {}", t.target, text(t.value)));
    known_.define(t.target, t.value.kind());
    at(&t.store);
    step(t.store, Step{}, depth + 1);
    known_.leave(outside);
  }

  void step(const Contract& c, const Step& s, int depth) {
    line(depth, fmt::format("for tiles of {} and {} from {}, {}{}:", range(c.row), range(c.column), text(c.first_row), text(c.first_column), type(s)));
    for (const std::string& words : schedule_lines(c.schedule)) line(depth + 1, words);
    const std::size_t outside = known_.size();
    known_.enter(c.row);
    known_.enter(c.column);
    if (c.wanted.valid()) line(depth + 1, "only tiles where " + text(c.wanted) + " holds somewhere");
    for (const FetchAhead& piece : c.ahead) {
      line(depth + 1, fmt::format("each tile fetches its share of {} bytes from {} on, block {} of {}", piece.bytes, text(piece.first), text(piece.number), piece.blocks));
    }
    std::string depths;
    for (const Binder& b : c.depth) {
      depths += (depths.empty() ? "" : ", ") + range(b);
      known_.enter(b);
    }
    at(&c.target);
    line(depth + 1, fmt::format("r{} = sum over {} of {} * {}{}{}, each added with one rounding", c.target, depths, text(c.left), text(c.right),
                                text(" where ", c.taps), text(" unless zero ", c.guard)));
    known_.define(c.target, Kind::real);
    steps(c.steps, depth + 1);
    known_.leave(outside);
  }

  KnownNames known_;
  unsigned next_ = 1;
};

}  // namespace

std::string to_text(const spec::System& system, const Nest& nest) { return Listing(system, {&nest, 1}).text(); }

Listing::Listing(const spec::System& system, std::span<const Nest> nests) {
  Printer printer(system);
  for (const Nest& nest : nests) printer.nest(nest);
  text_ = std::move(printer.all);
  lines_ = std::move(printer.lines);
}

unsigned Listing::line_of(const void* part) const {
  const auto line = lines_.find(part);
  return line == lines_.end() ? 0 : line->second;
}

}  // namespace etalon::compiled::loops
