// Calls that are there already, once more or nearly so.
#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "conformance/roles/reading.hpp"

namespace etalon::conformance {
namespace {

/// Nothing where no attribute is a real number but 0.
std::optional<DrawnCall> with_other_digits(const Composition& c, const DrawnCall& call) {
  Assignment choices = call.assignment;
  bool differs = false;
  for (const auto& [name, value] : call.instance.attributes) {
    const auto* x = std::get_if<double>(&value);
    if (x == nullptr || *x == 0 || !std::isfinite(*x)) continue;
    choices.attributes[name] = *x * (1 + (c.wish.dtype == DType::f64 ? 0x1p-40 : 0x1p-19));
    differs = true;
  }
  return differs ? c.calls.typed(*call.definition, std::move(choices)) : std::nullopt;
}

/// Another view, of this type, of what the call views, or that itself; nothing where neither can be.
std::optional<std::string> another_view(Composition& c, std::size_t viewing, const spec::ValueType& type) {
  const DrawnCall first = c.draft.calls()[viewing];
  const Taken read = c.draft.read_by(viewing);
  const std::vector<Result>& results = c.draft.results();
  const auto viewed = std::find_if(results.begin(), results.end(), [&](const Result& r) { return r.name == read.front(); });
  if (viewed == results.end()) return std::nullopt;
  const Result base = *viewed;
  const SizeWish wish{.elements = c.wish.elements, .edges = false, .defaults = false, .fit = Fit{0, extents_of(base.type)}};
  constexpr int draws = 12;
  for (int k = 0; k < draws; ++k) {
    auto call = c.calls.drawn(*first.definition, wish, [&](Assignment& choices) {
      if (base.type.dtype != c.wish.dtype) choices.shared_type = base.type.dtype;
    });
    if (!call || call->types.operands.size() != read.size() || call->types.operands.front() != base.type) continue;
    if (call->result() != type || call->instance.attributes == first.instance.attributes) continue;
    const std::size_t before = results.size();
    if (c.draft.add(std::move(*call), {base.name})) return results[before].name;
  }
  return base.type == type ? std::optional(base.name) : std::nullopt;
}

}  // namespace

// On other numbers, or on what it gave.
void add_again(Composition& c) {
  const DrawnCall& last = c.draft.calls().back();
  c.draft.add(last, results_for(c, last, {}, c.draw.chance(0.5) ? 0.8 : 0));
}

// Each of the two results has a cotangent of its own, and what they are made of the sum.
void add_once_more(Composition& c) { c.draft.add(c.draft.calls().front(), c.draft.read_by(0)); }

// Who keeps common subexpressions may take b - a for a - b.
void add_exchanged(Composition& c) {
  const auto twin = twins_of(c.draft.calls().front());
  if (!twin) return;
  Taken taken = c.draft.read_by(0);
  std::swap(taken[*twin], taken[*twin + 1]);
  c.draft.add(c.draft.calls().front(), std::move(taken));
}

// Keys that hold few digits, narrower numbers or not all attributes take it for the first call.
void add_nearly(Composition& c) {
  const DrawnCall& first = c.draft.calls().front();
  auto call = with_other_digits(c, first);
  if (!call || c.draw.chance(0.3)) {
    if (auto other = c.calls.with_another_attribute(first)) call = std::move(other->call);
  }
  if (call && call->types.operands == first.types.operands) c.draft.add(std::move(*call), c.draft.read_by(0));
}

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
