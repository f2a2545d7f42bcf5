// Who reads what calls of the program's definition gave: each of those that compilers rewrite with it, in turn.
#include <algorithm>
#include <utility>

#include "conformance/collapse.hpp"
#include "conformance/roles/reading.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_tried = 13;
constexpr std::size_t most_tried_by_others = 4;  // by results that are no real numbers, which most cannot read
constexpr std::size_t most_returning = 2;

/// A call and how it reads another.
struct Way {
  DrawnCall call;
  std::vector<Link> links;
};

std::optional<DrawnCall> drawn_of_shape(Composition& c, const spec::Definition& d, const spec::ValueType& type) {
  const bool shares = std::any_of(d.operands, d.operands + d.operand_count, [](const auto& o) { return shares_type(o.range); });
  const SizeWish wish{.elements = c.wish.elements, .edges = false, .turn = c.draw.bits() % turns_in_step, .defaults = false, .insistence = 0.5};
  return c.calls.drawn(d, wish, [&](Assignment& choices) {
    make_equal(choices, extents_of(type));
    if (shares && type.dtype != c.wish.dtype && d.operands[0].range != spec::Range::boolean) choices.shared_type = type.dtype;
  });
}

/// One that gives back something simpler among ordinary numbers, or the first that was found.
std::optional<Way> way_to_read(Composition& c, const spec::Definition& d, const DrawnCall& first) {
  std::optional<Way> found;
  const spec::ValueType type = c.draft.results().back().type;
  const int draws = d.attribute_count > 0 ? 5 : 1;
  for (int k = 0; k < draws; ++k) {
    auto call = drawn_of_shape(c, d, type);
    if (!call) continue;
    const std::vector<std::vector<Link>> links = ways_to_read(call->types.operands, first.types.operands, type);
    std::vector<std::vector<Link>> collapsing;
    for (const auto& way : links) {
      if (collapses(first.instance, call->instance, way)) collapsing.push_back(way);
    }
    if (!collapsing.empty()) return Way{std::move(*call), c.draw.pick(collapsing)};
    if (!found && !links.empty()) found = Way{std::move(*call), c.draw.pick(links)};
  }
  return found;
}

/// An elementwise function of what the last call gave, and of what that read. \returns whether anything was added
bool add_rewritten(Composition& c, const spec::Definition& d) {
  const DrawnCall first = c.draft.calls().back();
  const Taken read = c.draft.read_by(c.draft.calls().size() - 1);
  const Result result = c.draft.results().back();
  auto way = way_to_read(c, d, first);
  if (!way) return false;
  Taken taken;
  for (const Link& link : way->links) {
    taken.push_back(link.to == Link::To::result ? std::optional(result.name) : link.to == Link::To::operand ? read[link.place] : std::nullopt);
  }
  const auto own = std::find(taken.begin(), taken.end(), std::nullopt);
  bool added = false;
  // Two results of one function, joined, may be that of the joined operands.
  if (own != taken.end() && way->call.types.operands[static_cast<std::size_t>(own - taken.begin())] == result.type && c.draw.chance(0.5)) {
    added = c.draft.add(first);
    if (added) *own = c.draft.results().back().name;
  }
  return c.draft.add(std::move(way->call), std::move(taken)) || added;
}

/// \returns whether a call of this definition was added that reads what is there, or by which compilers may rewrite that
bool join(Composition& c, const spec::Definition& d, const ReadingWish& wish, bool rewrites) {
  if (rewrites && is_elementwise(d) && is_elementwise(*c.wish.about) && add_rewritten(c, d)) return true;
  return add_reading(c, &d, wish) || add_reading(c, &d, wish) || add_reading(c, &d, wish);  // draws differ
}

/// The next consumer in turn that can be joined, of so many; those that cannot wait.
void join_next(Composition& c, std::size_t most, const ReadingWish& wish, bool rewrites) {
  const Definitions& consumers = c.catalogue.consumers;
  for (std::size_t tried = 0; tried < std::min(consumers.size(), most); ++tried) {
    const spec::Definition& d = *consumers[static_cast<std::size_t>(c.turn % consumers.size())];
    c.turn += c.wish.stride;
    if (join(c, d, wish, rewrites)) return;
    c.passed.push_back(&d);
  }
}

}  // namespace

void add_consumer(Composition& c) { join_next(c, most_tried, {.around = true}, false); }

void add_reader(Composition& c) {
  const std::size_t given = c.draft.empty() ? 0 : c.draft.calls().back().instance.results.size();
  const ReadingWish wish{.window = {.first = c.draft.results().size() - given}, .around = true, .defaults = false};
  // What does the same again is joined first of all.
  if (c.draw.chance(0.15) && add_reading(c, c.wish.about, wish)) return;
  const bool is_other = !c.draft.empty() && kind_of(c.draft.results().back().type.dtype) != Kind::real;
  // Whom the type of one result kept from reading reads another.
  for (std::size_t k = 0; !is_other && k < most_returning && !c.passed.empty(); ++k) {
    const spec::Definition& d = *c.passed.front();
    c.passed.pop_front();
    if (join(c, d, wish, true)) return;
  }
  join_next(c, is_other ? most_tried_by_others : most_tried, wish, true);
}

}  // namespace etalon::conformance
