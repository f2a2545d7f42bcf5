#include "conformance/roles/rewritten.hpp"

#include <algorithm>
#include <utility>

#include "conformance/collapse.hpp"
#include "conformance/roles/fitting_calls.hpp"
#include "conformance/shapes.hpp"

namespace etalon::conformance {
namespace {

/// How a call reads another.
struct Way {
  DrawnCall call;
  std::vector<Link> links;
};

std::optional<DrawnCall> drawn_of_shape(Composition& c, const spec::Definition& d, const spec::ValueType& type) {
  const std::uint64_t turn = c.draw.bits() % turns_in_step;
  auto choices = draw_assignment(d, c.draw, {.elements = c.wish.elements, .edges = false, .turn = turn, .defaults = false, .insistence = 0.5}, c.wish.dtype);
  if (!choices) return std::nullopt;
  make_equal(*choices, extents_of(type));
  const bool shares = std::any_of(d.operands, d.operands + d.operand_count, [](const auto& o) { return o.range == spec::Range::number || o.range == spec::Range::any; });
  if (shares && type.dtype != c.wish.dtype && d.operands[0].range != spec::Range::boolean) choices->shared_type = type.dtype;
  return typed(c.wish, d, std::move(choices));
}

/// One that gives something simpler, or the first that was found.
std::optional<Way> way_to_read(Composition& c, const spec::Definition& d, const DrawnCall& first, const spec::ValueType& type) {
  std::optional<Way> found;
  const int draws = d.attribute_count > 0 ? 5 : 1;
  for (int k = 0; k < draws; ++k) {
    auto call = drawn_of_shape(c, d, type);
    if (!call) continue;
    const std::vector<std::vector<Link>> links = ways_to_read(call->types.operands, first.types.operands, type);
    if (links.empty()) continue;
    std::vector<std::vector<Link>> collapsing;
    for (const auto& way : links) {
      if (collapses(first.instance, call->instance, way)) collapsing.push_back(way);
    }
    if (!collapsing.empty()) return Way{std::move(*call), c.draw.pick(collapsing)};
    if (!found) found = Way{std::move(*call), c.draw.pick(links)};
  }
  return found;
}

}  // namespace

bool add_rewritten(Composition& c, const spec::Definition& d) {
  const DrawnCall first = c.draft.calls().back();
  const Taken read = c.draft.read_by(c.draft.calls().size() - 1);
  const Result result = c.draft.results().back();
  auto way = way_to_read(c, d, first, result.type);
  if (!way) return false;
  Taken taken;
  for (const Link& link : way->links) {
    taken.emplace_back();
    if (link.to == Link::To::result) taken.back() = result.name;
    if (link.to == Link::To::operand) taken.back() = read[link.place];
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

}  // namespace etalon::conformance
