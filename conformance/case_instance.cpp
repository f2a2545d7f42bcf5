#include "conformance/case_instance.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/integers.hpp"
#include "conformance/plain_attributes.hpp"
#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"
#include "conformance/signature.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

// Second derivatives are long programs: those of the quick tier share one.
constexpr std::uint64_t seconds_per_instance = 3;

// Every tenth instance may hold no element.
constexpr std::uint64_t period = 10;
constexpr std::uint64_t empty_instance = 1;

// Every tenth sums more than a thousand terms, where the definition sums.
constexpr std::uint64_t longest_instance = 4;

// Every tenth, at another place, differs from the one before it in one thing only: that is what caches confuse.
constexpr std::uint64_t sibling_instance = 3;

// Before it and in it roots and quotients may meet next to nothing.
constexpr std::uint64_t bare_instance = sibling_instance - 1;

// Every tenth, at one more place, is for sides of comparisons that are equal.
constexpr std::uint64_t tied_instance = 4;

// Of operands that may hold integers, every tenth instance does, in each of its cases another type's.
constexpr std::uint64_t integer_instance = 5;
constexpr std::int64_t integer_elements = 20;  // room for the ends of all significands

// Where the families of numbers of the shortest tier end, cases of integers follow.
constexpr std::uint64_t integers_from = 20;

SizeWish wish_of(std::uint64_t instance, Check check) {
  if (check == Check::step || check == Check::rejection) return {.elements = 24, .edges = false};
  if (check == Check::large) return {.elements = 8000, .least = 2000, .nodes = std::numeric_limits<double>::infinity()};
  if (check == Check::second && instance % 5 != 1) return {.elements = 24, .edges = false};
  if (check == Check::layout && instance % 5 != 1) return {.elements = 60, .edges = false};
  if (instance % period == 6) return {.elements = 1, .edges = false};
  switch (instance % 5) {
    case 1:
      return {.elements = 24, .edges = true, .empty = instance % period == empty_instance};
    case 3:
      return {.elements = 60, .edges = false};
    case 2:
      return {.elements = 340, .edges = false, .longest = 16};
    default:
      return {.elements = 340, .edges = false, .longest = instance % period == longest_instance ? 1024 : 0};
  }
}

/// Which levels the attributes of an instance have: both element types take turns, no turn goes to nothing or to a sibling,
/// and modes go on where others, in the shortest tier, stop. Checks of one mode share instances.
std::uint64_t turn_of(const CaseKey& key, std::uint64_t instance) {
  const std::uint64_t rounds = instance / period, place = instance % period;
  const std::uint64_t passed = (place > empty_instance ? 1U : 0U) + (place > sibling_instance ? 1U : 0U);
  const std::uint64_t filled = rounds * (period - 2) + place - passed;
  constexpr std::uint64_t turns_of_mode = 6;
  const std::uint64_t first = key.seed + turns_of_mode * static_cast<std::uint64_t>(mode_of(key));
  if (key.check == Check::value && place == integer_instance && rounds > 0) return first + rounds + (is_second(key.dtype) ? 3 : 0);
  return first + 2 * filled + (is_second(key.dtype) ? 1 : 0);
}

constexpr std::array other_types{DType::i64, DType::i32, DType::i64, DType::boolean, DType::i64, DType::i32};
constexpr std::size_t distinct_types = 3;

/// The attribute that names an element type, and what it may name.
std::pair<const spec::AttributeText*, std::vector<AttributeLevel>> named_types(const spec::Definition& d) {
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (d.attributes[i].kind == spec::AttributeKind::dtype) return {&d.attributes[i], levels_of(d, d.attributes[i])};
  }
  return {};
}

// Operands of any type hold integers and truth values too; where an attribute names a type, each of them meets each.
void vary_shared_type(const spec::Definition& definition, Assignment& assignment, std::uint64_t turn, DType dtype) {
  Assignment varied = assignment;
  varied.shared_type = other_types[static_cast<std::size_t>(turn % other_types.size())];
  if (const auto [attribute, levels] = named_types(definition); attribute != nullptr && !levels.empty()) {
    varied.shared_type = other_types[1 + static_cast<std::size_t>(turn % distinct_types)];
    varied.attributes[std::string(definition.at(attribute->name))] = levels[static_cast<std::size_t>(turn / distinct_types) % levels.size()].value;
  }
  const auto call = call_of(definition, varied, dtype);
  const auto usual = call_of(definition, assignment, dtype);
  if (!call) return;
  for (std::size_t i = 0; i < call->operands.size(); ++i) {
    if (call->operands[i] && call->operands[i]->dtype != usual->operands[i]->dtype) assignment = varied;
  }
}

/// Of every five instances that with the most room has many axes: the first of all, others in one of two element types that
/// are asked for beside each other; modes and seeds take turns.
bool is_deep(const CaseKey& key, std::uint64_t number) {
  if (number == 0 && (key.check == Check::jvp || key.check == Check::vjp)) return true;
  const std::uint64_t turn = key.seed + number / 5 + static_cast<std::uint64_t>(mode_of(key)) + (is_second(key.dtype) ? 1 : 0);
  return number % 5 == 0 && turn % 2 == 0;
}

/// The choices of an instance, in the order in which they are made.
std::optional<Assignment> draw_instance(const CaseKey& key, const spec::Definition& definition, std::uint64_t number, Draw& draw) {
  SizeWish wish = wish_of(number, key.check);
  wish.turn = turn_of(key, number);
  wish.deep = is_deep(key, number);
  if (key.check == Check::value && number % period == integer_instance && takes_integers(definition)) wish.least = integer_elements;
  auto assignment = draw_assignment(definition, draw, wish, key.dtype);
  if (assignment && number % period == bare_instance) return without_small_summands(definition, *std::move(assignment), key.dtype);
  if (assignment && has_ties(key, number)) return with_powers_of_two(definition, *std::move(assignment), key.dtype);
  return assignment;
}

/// That of a sibling is drawn like the one before it and then changed.
std::optional<Assignment> assignment_of(const CaseKey& key, const spec::Definition& definition, std::uint64_t number, Draw& draw) {
  const bool shared = key.check == Check::value || key.check == Check::jvp || key.check == Check::vjp;
  if (shared && number % period == sibling_instance) {
    Draw before(draw_key(key, "types", number - 1));
    const auto first = draw_instance(key, definition, number - 1, before);
    const std::uint64_t turn = key.seed + number / period + 2 * static_cast<std::uint64_t>(mode_of(key)) + (is_second(key.dtype) ? 1 : 0);
    const auto second = first ? sibling_of(definition, *first, turn, key.index, draw, key.dtype) : std::nullopt;
    if (second) return second;
  }
  return draw_instance(key, definition, number, draw);
}

/// Whether an axis of one element stands before another in layouts of this kind: where the buffer begins is looked for there.
bool has_axis_of_one(Unusual kind) { return kind == Unusual::offset || kind == Unusual::reversed; }

}  // namespace

bool has_ties(const CaseKey& key, std::uint64_t instance) {
  return (key.check == Check::jvp || key.check == Check::vjp) && instance % period == tied_instance;
}

spec::Mode mode_of(const CaseKey& key) {
  switch (key.check) {
    case Check::jvp:
      return spec::Mode::jvp;
    case Check::vjp:
    case Check::adjoint:
      return spec::Mode::vjp;
    case Check::determinism:
      return std::array{spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp}[static_cast<std::size_t>(key.index % 3)];
    case Check::special:
      return std::array{spec::Mode::forward, spec::Mode::vjp, spec::Mode::forward,
                        spec::Mode::jvp}[static_cast<std::size_t>(key.index % 4)];
    case Check::layout:  // the second element type has each kind of layout in another mode
    case Check::large: {
      const std::uint64_t place = key.index + key.index / unusual_count + (is_second(key.dtype) ? 1 : 0);
      return std::array{spec::Mode::forward, spec::Mode::vjp, spec::Mode::jvp}[static_cast<std::size_t>(place % 3)];
    }
    case Check::second:
      return spec::Mode::jvp_of_vjp;
    default:
      return spec::Mode::forward;
  }
}

std::uint64_t instance_number(const CaseKey& key, const spec::Definition& definition) {
  switch (key.check) {
    case Check::value:
      // After what every run asks, integers have a few cases more than their turn, each an instance of its own.
      if (key.index >= integers_from && key.index < integers_from + integer_cases(definition)) {
        return integer_instance + period * (key.index - integers_from);
      }
      // Without reals there are no families of numbers to be met by one instance, and no derivatives that go on with turns.
      return key.index / (takes_reals(definition) ? draws_per_instance : draws_per_instance / 2);
    case Check::jvp:
    case Check::vjp:
      return key.index / draws_per_instance;
    case Check::adjoint:
    case Check::special:
    case Check::determinism: {
      // Few cases, each of which should compare something.
      const std::uint64_t place = key.index % (period - 1);
      return key.index / (period - 1) * period + (place < empty_instance ? place : place + 1);
    }
    case Check::second:
      return key.index / seconds_per_instance;
    default:
      return key.index;
  }
}

std::size_t integer_cases(const spec::Definition& definition) {
  if (!takes_integers(definition)) return 0;
  constexpr std::size_t usual = 5;
  return std::max(usual, distinct_types * named_types(definition).second.size());
}

std::optional<Assignment> choices_of(const CaseKey& key, const spec::Definition& definition, std::uint64_t number, Draw& types) {
  auto assignment = assignment_of(key, definition, number, types);
  if (!assignment) return std::nullopt;
  if (key.check == Check::layout && has_axis_of_one(static_cast<Unusual>(key.index % unusual_count))) {
    if (auto changed = with_axis_of_one(definition, *assignment, key.dtype)) assignment = std::move(changed);
  }
  if (key.check == Check::value && number % period == integer_instance) vary_shared_type(definition, *assignment, key.index, key.dtype);
  return assignment;
}

}  // namespace etalon::conformance
