#include <algorithm>
#include <utility>

#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"

namespace etalon::conformance {
namespace {

/// Another view, of the same type, of what the call views, or that itself; nothing where neither can be.
std::optional<std::string> another_view(Composition& c, std::size_t viewing, const spec::ValueType& type) {
  const Taken read = c.draft.read_by(viewing);
  const DrawnCall first = c.draft.calls()[viewing];
  const std::vector<Result>& results = c.draft.results();
  const auto viewed = std::find_if(results.begin(), results.end(), [&](const Result& r) { return r.name == read.front(); });
  if (viewed == results.end()) return std::nullopt;
  const Result base = *viewed;
  SizeWish wish{.elements = c.wish.elements, .edges = false, .defaults = false, .fit = Fit{0, extents_of(base.type)}};
  constexpr int draws = 12;
  for (int k = 0; k < draws; ++k) {
    auto call = drawn(c, *first.definition, wish, base.type.dtype);
    if (!call || call->types.operands.size() != read.size() || call->types.operands.front() != base.type) continue;
    if (call->result() != type || call->instance.attributes == first.instance.attributes) continue;
    const std::size_t given = results.size();
    if (c.draft.add(std::move(*call), {base.name})) return results[given].name;
  }
  return base.type == type ? std::optional(base.name) : std::nullopt;
}

}  // namespace

// The value under the first view is viewed otherwise, and the last call repeated on that: who keeps what it made of an operand
// may take one for the other.
void add_other_view(Composition& c) {
  if (!c.view) return;
  const DrawnCall last = c.draft.calls().back();
  Taken taken = c.draft.read_by(c.draft.calls().size() - 1);
  const Result old = c.draft.results()[c.view->result];
  if (std::find(taken.begin(), taken.end(), old.name) == taken.end()) return;
  const auto other = another_view(c, c.view->call, old.type);
  if (!other) return;
  std::replace(taken.begin(), taken.end(), std::optional(old.name), other);
  c.draft.add(last, std::move(taken));
}

}  // namespace etalon::conformance
