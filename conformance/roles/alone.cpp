// Calls on inputs: of their own, or the first that is there.
#include <algorithm>
#include <utility>

#include "conformance/choices.hpp"
#include "conformance/roles/parts.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

std::int64_t elements_read(const DrawnCall& call) {
  const auto& operands = call.types.operands;
  return operands.empty() || !operands.front() ? 0 : operands.front()->dims.count();
}

/// A call of an elementwise function, mostly with attributes at levels and operands of one shape.
std::optional<DrawnCall> drawn_at_levels(Composition& c, const spec::Definition& d, SizeWish wish) {
  if (c.draw.chance(0.7)) wish.turn = c.draw.bits() % turns_in_step, wish.insistence = 0.5;
  const auto at_levels = [&](Assignment& choices) {
    if (takes_integers(d) && c.draw.chance(0.25)) choices.shared_type = c.draw.chance(0.5) ? DType::i64 : DType::i32;
    if (c.draw.chance(0.8)) make_equal(choices, *extents_of_axes(d, d.operands[0].axes, choices));
  };
  constexpr std::int64_t several = 5;  // a function of one number meets one class of numbers
  return c.calls.drawn(d, wish, at_levels, {elements_read, several});
}

/// \param first the extents of the first operand, where it can have them and the program wishes for no others
/// \returns whether a call was added, on inputs of its own
bool add_alone(Composition& c, const spec::Definition& d, bool at_levels, std::optional<Fit> first = {}) {
  SizeWish wish = c.calls.size_wish();
  wish.defaults = wish.defaults && c.draw.chance(0.3);
  wish.fit = std::move(first);
  if (!c.wish.extents.empty() && d.operand_count > 0) wish.fit = Fit{0, c.wish.extents};
  auto call = at_levels ? drawn_at_levels(c, d, wish) : c.calls.drawn(d, wish);
  // What repeats axes of one element needs some.
  if (call && wish.fit && is_move(d) && leaves_as_is(call->instance)) {
    wish.fit.reset();
    call = c.calls.drawn(d, wish);
  }
  return call && c.draft.add(std::move(*call));
}

}  // namespace

void add_anew(Composition& c) { add_alone(c, *c.wish.about, is_elementwise(*c.wish.about)); }

void add_feeder(Composition& c) {
  constexpr std::size_t most_tried = 12;
  const Definitions& feeders = c.catalogue.feeders;
  for (std::size_t tried = 0; tried < most_tried && !feeders.empty(); ++tried) {
    const spec::Definition& d = *feeders[static_cast<std::size_t>(c.turn % feeders.size())];
    c.turn += c.wish.stride;
    if (add_alone(c, d, false, c.calls.what_is_read())) return;
  }
}

void add_sharing(Composition& c) {
  const spec::Definition& d = *c.wish.about;
  if (d.operand_count == 0 || c.draft.inputs().empty()) return;
  const spec::Input shared = c.draft.inputs().front();
  const spec::ValueType type{shared.dtype, shared.dims};
  const auto operand = static_cast<std::size_t>(c.draw.integer(0, static_cast<std::int64_t>(d.operand_count) - 1));
  if (!may_hold(d.operands[operand].range, type.dtype, c.wish.dtype)) return;
  SizeWish wish = c.calls.size_wish();
  wish.fit = Fit{operand, extents_of(type)};
  // What is broadcast has a cotangent of its own, and shares it with nobody.
  auto call = c.calls.drawn(d, wish, [&](Assignment& choices) {
    if (is_elementwise(d)) make_equal(choices, extents_of(type));
  });
  if (!call) return;
  Taken taken = taken_where(*call, type, {shared.name});
  if (std::any_of(taken.begin(), taken.end(), [](const auto& name) { return name.has_value(); })) c.draft.add(std::move(*call), std::move(taken));
}

}  // namespace etalon::conformance
