#include <cmath>
#include <utility>
#include <variant>

#include "conformance/roles/another_attribute.hpp"
#include "conformance/roles/parts.hpp"
#include "conformance/roles/reading.hpp"

namespace etalon::conformance {
namespace {

/// Nothing where no attribute is a real number but 0.
std::optional<DrawnCall> with_other_digits(const ProgramWish& wish, const DrawnCall& call) {
  Assignment choices = call.assignment;
  bool differs = false;
  for (const auto& [name, value] : call.instance.attributes) {
    const auto* x = std::get_if<double>(&value);
    if (x == nullptr || *x == 0 || !std::isfinite(*x)) continue;
    choices.attributes[name] = *x * (1 + (wish.dtype == DType::f64 ? 0x1p-40 : 0x1p-19));
    differs = true;
  }
  return differs ? typed(wish, *call.definition, std::move(choices)) : std::nullopt;
}

}  // namespace

void add_again(Composition& c) {
  const DrawnCall& last = c.draft.calls().back();
  c.draft.add(last, results_for(c, last, {}, c.draw.chance(0.5) ? 0.8 : 0));
}

// Each of the two results has a cotangent of its own, and what they are made of the sum.
void add_once_more(Composition& c) { c.draft.add(c.draft.calls().front(), c.draft.read_by(0)); }

// Who keeps common subexpressions may take b - a for a - b.
void add_exchanged(Composition& c) {
  const DrawnCall& first = c.draft.calls().front();
  const auto twin = twins_of(first);
  if (!twin) return;
  Taken taken = c.draft.read_by(0);
  std::swap(taken[*twin], taken[*twin + 1]);
  c.draft.add(first, std::move(taken));
}

// Keys that hold few digits, narrower numbers or not all attributes take it for the first call.
void add_nearly(Composition& c) {
  const DrawnCall& first = c.draft.calls().front();
  auto call = with_other_digits(c.wish, first);
  if (!call || c.draw.chance(0.3)) {
    if (auto other = with_another_attribute(c.wish, c.draw, first)) call = std::move(other->call);
  }
  if (call && call->types.operands == first.types.operands) c.draft.add(std::move(*call), c.draft.read_by(0));
}

}  // namespace etalon::conformance
