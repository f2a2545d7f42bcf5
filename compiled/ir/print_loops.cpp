#include <fmt/format.h>

#include <array>
#include <utility>

#include "compiled/ir/listing.hpp"

namespace etalon::compiled::loops {

namespace {

class Printer {
 public:
  explicit Printer(const spec::System& system) : system_(system) {}

  std::string text;
  std::unordered_map<const void*, unsigned> lines;

  void nest(const Nest& nest) {
    at(&nest);
    line(0, fmt::format("kernel {}({}):", nest.name, arguments(nest)));
    for (const Buffer& own : nest.buffers) {
      if (own.scope != Scope::thread) continue;
      const std::string where = own.offset ? fmt::format(" from {} on of the thread's", *own.offset) : "";
      line(1, fmt::format("{} in {} bytes of the kernel's own{}", system_[own.tensor].name, own.bytes, where));
    }
    for (const TensorId id : nest.zeroed) line(1, system_[id].name + " is full of zeros");
    steps(nest.steps, 1);
  }

 private:
  void steps(const std::vector<Step>& all, int depth) {
    for (const Step& s : all) {
      at(&s);
      std::visit([&](const auto& one) { step(one, s, depth); }, s.is);
    }
  }

  /// The part's line is the next one.
  void at(const void* part) { lines[part] = next_; }

  void line(int depth, const std::string& what) {
    text += std::string(static_cast<std::size_t>(depth) * 2, ' ') + what + "\n";
    ++next_;
  }

  /// Those that are written are marked.
  std::string arguments(const Nest& nest) const {
    std::string all;
    for (const Buffer& b : nest.buffers) {
      if (b.scope == Scope::argument) all += fmt::format("{}{}{}", all.empty() ? "" : ", ", b.written ? "&" : "", system_[b.tensor].name);
    }
    return all;
  }

  void head(const Loop& loop, int depth) {
    constexpr std::array<const char*, 4> taken{"", ", one by one", ", on cores", ", on a grid"};
    const std::string lanes = (loop.in_lanes() ? fmt::format(" in {} lanes", loop.width) : "") + taken.at(static_cast<std::size_t>(loop.bind));
    const std::string limit = loop.limit.valid() ? " and < " + to_text(system_, loop.limit) : "";
    line(depth, fmt::format("for {} < {}{}{}:", name(loop.binder), loop.binder.extent, limit, lanes));
    for (const std::string& reason : loop.merged) line(depth + 1, reason);
    for (const FetchedRow& row : loop.fetched) {
      line(depth + 1, fmt::format("fetches {}{}", to_text(system_, row.element), row.write ? " to be written" : ""));
    }
  }

  void step(const Loop& loop, const Step&, int depth) {
    head(loop, depth);
    steps(loop.steps, depth + 1);
  }

  void step(const Reduce& r, const Step& s, int depth) {
    line(depth, fmt::format("r{} = {} ({}){}", r.target, name_of(r.reduction), s.real == Type::f64 ? "f64" : "f32",
                            r.reached.valid() ? " if " + to_text(system_, r.reached) : ""));
    for (const Loop& loop : r.loops) {
      at(&loop);
      head(loop, ++depth);
      steps(loop.steps, depth + 1);
    }
    at(&r.body);
    line(depth + 1, fmt::format("where {}: {}", to_text(system_, r.guard), to_text(system_, r.body)));
    if (r.otherwise.valid()) line(depth + 1, "else " + to_text(system_, r.otherwise));
  }

  void step(const Store& store, const Step&, int depth) {
    std::string place;
    for (const Expr& p : store.place) place += (place.empty() ? "" : ", ") + to_text(system_, p);
    line(depth, fmt::format("{}{}[{}] {} {}{}", store.guard.valid() ? "if " + to_text(system_, store.guard) + ": " : "",
                            system_[store.tensor].name, place, store.add ? "+=" : "=", to_text(system_, store.value),
                            store.streamed ? ", around the caches" : ""));
  }

  void step(const Define& d, const Step&, int depth) {
    line(depth, fmt::format("r{} = {}", d.target, to_text(system_, d.value)));
  }

  void step(const Transpose& t, const Step& s, int depth) {
    line(depth, fmt::format("for squares of {} by {}: {} < {}, {} < {}:", t.width, t.width, name(t.across), t.across.extent,
                            name(t.down), t.down.extent));
    at(&t.target);
    line(depth + 1, fmt::format("r{} = {}", t.target, to_text(system_, t.value)));
    at(&t.store);
    step(t.store, s, depth + 1);
  }

  void step(const Contract& c, const Step& s, int depth) {
    std::string depths;
    for (const Binder& b : c.depth) depths += fmt::format("{}{} < {}", depths.empty() ? "" : ", ", name(b), b.extent);
    line(depth, fmt::format("for tiles of {} < {} from {} and {} < {} from {}:", name(c.row), c.row.extent,
                            to_text(system_, c.first_row), name(c.column), c.column.extent, to_text(system_, c.first_column)));
    line(depth + 1, to_text(c.schedule));
    if (c.wanted.valid()) line(depth + 1, "only tiles where " + to_text(system_, c.wanted) + " holds somewhere");
    for (const FetchAhead& piece : c.ahead) line(depth + 1, fmt::format("each tile fetches its share of {} bytes from {} on", piece.bytes, to_text(system_, piece.first)));
    at(&c.target);
    line(depth + 1, fmt::format("r{} = sum ({}) over {}: {} * {}{}, each added with one rounding", c.target,
                                s.real == Type::f64 ? "f64" : "f32", depths, to_text(system_, c.left), to_text(system_, c.right),
                                guard_of(c)));
    steps(c.steps, depth + 1);
  }

  std::string guard_of(const Contract& c) const {
    if (c.taps.valid()) return " where " + to_text(system_, c.taps);
    return c.guard.valid() ? " where " + to_text(system_, c.guard) + " != 0" : "";
  }

  static std::string name(const Binder& b) { return fmt::format("{}'{}", b.name, b.variable); }

  const spec::System& system_;
  unsigned next_ = 1;
};

}  // namespace

std::string to_text(const spec::System& system, const Nest& nest) {
  Printer printer(system);
  printer.nest(nest);
  return printer.text;
}

Listing::Listing(const spec::System& system, const std::vector<Nest>& nests) {
  Printer printer(system);
  for (const Nest& nest : nests) printer.nest(nest);
  text_ = std::move(printer.text);
  lines_ = std::move(printer.lines);
}

unsigned Listing::line_of(const void* part) const {
  const auto line = lines_.find(part);
  return line == lines_.end() ? 0 : line->second;
}

}  // namespace etalon::compiled::loops
