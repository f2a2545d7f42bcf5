#include <algorithm>

#include "conformance/roles/parts.hpp"
#include "conformance/roles/reading.hpp"
#include "conformance/roles/rewritten.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

constexpr std::size_t most_tried = 13;
constexpr std::size_t most_tried_by_others = 4;  // by results that are no real numbers, which most cannot read
constexpr std::size_t most_returning = 2;

/// A call of this definition that reads what is there, where one can. \returns whether it was added
bool join(Composition& c, const spec::Definition& d, const ReadingWish& wish) {
  constexpr int draws = 3;
  for (int k = 0; k < draws; ++k) {
    if (add_reading(c, &d, wish)) return true;
  }
  return false;
}

/// The same, first of all so that compilers may rewrite both.
bool join_or_rewrite(Composition& c, const spec::Definition& d, const ReadingWish& wish) {
  return (is_elementwise(d) && is_elementwise(*c.wish.about) && add_rewritten(c, d)) || join(c, d, wish);
}

/// The next consumer in turn that can be joined, of so many; whose turn is lost are passed over.
template <class Join>
void join_next(Composition& c, std::size_t most, const ReadingWish& wish, const Join& joins) {
  const Definitions& consumers = c.catalogue.consumers;
  for (std::size_t tried = 0; tried < std::min(consumers.size(), most); ++tried) {
    const spec::Definition& d = *consumers[static_cast<std::size_t>(c.turn % consumers.size())];
    c.turn += c.wish.stride;
    if (joins(c, d, wish)) return;
    c.passed.push_back(&d);
  }
}

}  // namespace

void add_consumer(Composition& c) { join_next(c, most_tried, {.around = true}, join); }

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
    if (join_or_rewrite(c, d, wish)) return;
  }
  join_next(c, is_other ? most_tried_by_others : most_tried, wish, join_or_rewrite);
}

}  // namespace etalon::conformance
