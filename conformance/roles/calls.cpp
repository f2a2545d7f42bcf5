#include "conformance/roles/calls.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "conformance/choices.hpp"
#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"
#include "conformance/signature.hpp"

namespace etalon::conformance {
namespace {

using Numbers = std::vector<std::int64_t>;

bool lists_differ(const spec::Attributes& one, const spec::Attributes& other) {
  return std::any_of(one.begin(), one.end(), [&](const auto& a) {
    const auto b = other.find(a.first);
    const auto *x = std::get_if<Numbers>(&a.second), *y = b == other.end() ? nullptr : std::get_if<Numbers>(&b->second);
    return x != nullptr && y != nullptr && !std::is_permutation(x->begin(), x->end(), y->begin(), y->end());
  });
}

// What a move tells.
std::int64_t elements_moved(const DrawnCall& call) { return leaves_as_is(call.instance) ? 0 : call.result().dims.count(); }

}  // namespace

Tells usual_tells(const spec::Definition& d) {
  return is_move(d) ? Tells{elements_moved, telling} : Tells{};
}

std::optional<DrawnCall> Calls::typed(const spec::Definition& d, std::optional<Assignment> choices) const {
  auto types = choices ? call_of(d, *choices, wish_.dtype) : std::nullopt;
  if (!types) return std::nullopt;
  spec::Instance instance = instance_of(*types, wish_.library);
  return DrawnCall{&d, std::move(*choices), std::move(*types), std::move(instance)};
}

std::optional<DrawnCall> Calls::drawn(const spec::Definition& d, const SizeWish& wish, const std::function<void(Assignment&)>& change, Tells tells) {
  const int draws = tells.of != nullptr ? 4 : 1;
  std::optional<DrawnCall> best;
  std::int64_t most = -1;
  for (int k = 0; k < draws && most < tells.enough; ++k) {
    auto choices = draw_assignment(d, draw_, wish, wish_.dtype);
    if (choices && change) change(*choices);
    auto found = typed(d, std::move(choices));
    const std::int64_t told = !found ? -1 : tells.of != nullptr ? tells.of(*found) : tells.enough;
    if (told > most) best = std::move(found), most = told;
  }
  return best;
}

std::optional<DrawnCall> Calls::on(const spec::Definition& d, const spec::ValueType& type, bool equal) {
  if (d.operand_count == 0 || !may_hold(d.operands[0].range, type.dtype, wish_.dtype)) return std::nullopt;
  const Fit fit{0, extents_of(type)};
  const std::int64_t elements = std::max<std::int64_t>(wish_.elements, type.dims.count());
  auto found = drawn(d, {.elements = elements, .edges = false, .defaults = false, .fit = fit}, [&](Assignment& choices) {
    if (type.dtype != wish_.dtype) choices.shared_type = type.dtype;
    if (equal) make_equal(choices, fit.extents);
  });
  return found && found->types.operands.front() == type ? std::move(found) : std::nullopt;
}

std::optional<DrawnCall> Calls::alone(std::int64_t elements, bool square) {
  return drawn(*wish_.about, {.elements = elements, .edges = false, .defaults = false}, [&](Assignment& choices) {
    if (!square) return;
    const std::int64_t side = draw_.integer(2, 4);
    for (auto& [name, extent] : choices.extents) extent = side;
  });
}

std::optional<Fit> Calls::what_is_read() {
  const auto read = alone(wish_.elements, false);
  if (!read || read->types.operands.empty() || !read->types.operands.front()) return std::nullopt;
  return Fit{0, extents_of(*read->types.operands.front())};
}

std::optional<DrawnCall> Calls::elementwise_of(const spec::ValueType& type, std::size_t alike) {
  constexpr int draws = 12;
  for (int k = 0; k < draws && !catalogue_.elementwise.empty(); ++k) {
    const bool own = k < 2 && is_elementwise(*wish_.about);
    auto found = on(own ? *wish_.about : *draw_.pick(catalogue_.elementwise), type, true);
    if (!found || found->result() != type) continue;
    const auto& read = found->types.operands;
    if (static_cast<std::size_t>(std::count(read.begin(), read.end(), std::optional(type))) >= alike) return found;
  }
  return std::nullopt;
}

std::optional<DrawnCall> Calls::move_that_keeps(const spec::ValueType& type, const std::vector<std::size_t>& apart) {
  // In turn, those behind many that never keep a type would be nearly all that are met.
  constexpr int draws = 3;
  for (std::size_t passed = 0; passed < 2 * catalogue_.moves.size(); ++passed) {
    const spec::Definition& d = *draw_.pick(catalogue_.moves);
    for (int k = 0; k < draws; ++k) {
      auto found = on(d, type);
      if (!found || found->result() != type || leaves_as_is(found->instance)) continue;
      const std::vector<std::size_t> moved = axes_named(*found, type.dims.rank);
      if (std::find_first_of(moved.begin(), moved.end(), apart.begin(), apart.end()) == moved.end()) return found;
    }
  }
  return std::nullopt;
}

std::optional<AnotherAttribute> Calls::with_another_attribute(const DrawnCall& first) {
  // Of four kinds of siblings two change an attribute, of each place one of them.
  constexpr std::uint64_t kinds = 4, of_attributes = 1;
  constexpr int draws = 12;
  std::optional<AnotherAttribute> found;
  for (int k = 0; k < draws && !(found && found->alike && found->tells); ++k) {
    const std::uint64_t bits = draw_.bits(), turn = kinds * (bits % kinds) + of_attributes + bits / kinds % 2;
    auto other = typed(*first.definition, sibling_of(*first.definition, first.assignment, turn, 0, draw_, wish_.dtype));
    if (!other || other->types.operands != first.types.operands) continue;
    const spec::Instance &one = first.instance, &second = other->instance;
    const bool alike = second.results == one.results && second.attributes != one.attributes;
    const bool tells = lists_differ(one.attributes, second.attributes);
    if (!found || std::pair(alike, tells) > std::pair(found->alike, found->tells)) found = {std::move(*other), alike, tells};
  }
  return found;
}

bool may_hold(spec::Range range, DType dtype, DType of_case) {
  switch (range) {
    case spec::Range::integer: return dtype == DType::i64;
    case spec::Range::boolean: return dtype == DType::boolean;
    case spec::Range::any: return true;
    case spec::Range::number: return dtype != DType::boolean;
    default: return dtype == of_case;
  }
}

Numbers extents_of(const spec::ValueType& type) { return {type.dims.begin(), type.dims.end()}; }

void make_equal(Assignment& choices, const Numbers& extents) {
  for (auto& [row, of_row] : choices.rows) of_row = extents;
}

std::optional<std::size_t> twins_of(const DrawnCall& call) {
  const auto& all = call.types.operands;
  const auto first = std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a && a == b; });
  return first == all.end() ? std::nullopt : std::optional(static_cast<std::size_t>(first - all.begin()));
}

std::vector<std::size_t> axes_named(const DrawnCall& call, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto add = [&](std::int64_t axis) {
    const auto all = static_cast<std::int64_t>(rank);
    if (axis >= -all && axis < all) axes.push_back(static_cast<std::size_t>(axis < 0 ? axis + all : axis));
  };
  for (const auto& [attribute, row] : names_of(*call.definition).placed) {
    const auto found = call.instance.attributes.find(attribute);
    if (found == call.instance.attributes.end()) continue;
    if (const auto* one = std::get_if<std::int64_t>(&found->second)) add(*one);
    if (const auto* list = std::get_if<Numbers>(&found->second)) std::for_each(list->begin(), list->end(), add);
  }
  return axes;
}

}  // namespace etalon::conformance
