#include "conformance/case.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "conformance/attribute_levels.hpp"
#include "conformance/breaking.hpp"
#include "conformance/coverage.hpp"
#include "conformance/directions.hpp"
#include "conformance/faint.hpp"
#include "conformance/integers.hpp"
#include "conformance/one_sign.hpp"
#include "conformance/program_case.hpp"
#include "conformance/saturation.hpp"
#include "conformance/shapes.hpp"
#include "conformance/sibling.hpp"
#include "conformance/signature.hpp"
#include "conformance/thresholds.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

// Several sets of numbers share one instance, so that a backend compiles it once.
constexpr std::uint64_t draws_per_instance = 4;

// Second derivatives are long programs: those of the quick tier share one.
constexpr std::uint64_t seconds_per_instance = 3;

// Every tenth instance may hold no element.
constexpr std::uint64_t period = 10;
constexpr std::uint64_t empty_instance = 1;

// Every tenth sums more than a thousand terms, where the definition sums.
constexpr std::uint64_t longest_instance = 4;

// Every tenth, at another place, differs from the one before it in one thing only: that is what caches confuse.
constexpr std::uint64_t sibling_instance = 3;

// Of operands that may hold integers, every tenth instance does, in each of its cases another type's.
constexpr std::uint64_t integer_instance = 5;
constexpr std::int64_t integer_elements = 20;  // room for the ends of all significands

// Where the families of numbers of the shortest tier end, cases of integers follow.
constexpr std::uint64_t integers_from = 20;

std::uint64_t instance_of_index(const CaseKey& key, const spec::Definition& definition) {
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

/// The second of two element types that are asked for beside each other: they share what neither could meet alone.
bool is_second(DType dtype) { return dtype == DType::f64 || dtype == DType::bf16; }

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

bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

// The same numbers given twice: what belongs to one operand must not reach the other.
void repeat_operand(Case& c, Draw& draw) {
  if (!draw.chance(0.06)) return;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    for (std::size_t j = i + 1; j < c.operands.size(); ++j) {
      if (!c.operands[i] || !c.operands[j] || !is_real(c.operands[i]->dtype)) continue;
      if (c.operands[i]->dtype != c.operands[j]->dtype || c.operands[i]->dims != c.operands[j]->dims) continue;
      c.operands[j] = c.operands[i];
      return;
    }
  }
}

// The lowest integer has no negative, and no product or quotient with -1.
void meet_lowest(Case& c, Draw& draw) {
  std::vector<HostTensor*> integers;
  for (auto& t : c.operands) {
    if (t && (t->dtype == DType::i32 || t->dtype == DType::i64) && t->dims.count() > 0) integers.push_back(&*t);
  }
  if (integers.size() != 2 || integers[0]->dtype != integers[1]->dtype || integers[0]->dims != integers[1]->dims || !draw.chance(0.5)) return;
  const auto at = static_cast<std::size_t>(draw.integer(0, integers[0]->dims.count() - 1));
  const std::size_t lowest = draw.chance(0.6) ? 0 : 1;
  set_element(*integers[lowest], at, -std::numeric_limits<double>::infinity());  // the nearest there is
  set_element(*integers[1 - lowest], at, -1);
}

// A second derivative of wide numbers is mostly nothing or everything: two of three have ordinary ones.
std::vector<Family> second_families(Draw& draw, std::size_t operands, std::uint64_t index) {
  static const std::vector<Family> moderate{Family::unit, Family::positive, Family::narrow, Family::ties, Family::signs};
  if (index % 3 == 2) return draw_families(draw, operands, index);
  return std::vector<Family>(operands, index % 3 == 0 ? Family::normal : draw.pick(moderate));
}

std::vector<Family> families_of(const Case& c, Draw& draw) {
  const std::size_t operands = c.call.operands.size();
  if (tells_elements_apart(c.key)) return std::vector<Family>(operands, Family::normal);
  return c.key.check == Check::second ? second_families(draw, operands, c.key.index) : draw_families(draw, operands, c.key.index);
}

// One case of each instance, so that rows of every length are met.
void meet_one_sign(Case& c, const spec::System& system) {
  const bool asked = c.key.check == Check::value || c.key.check == Check::jvp || c.key.check == Check::vjp;
  if (!asked || c.key.index % draws_per_instance != 2) return;
  if (const auto sign = sign_beyond_zero(system, c.key.index / draws_per_instance)) keep_one_sign(c.operands, *sign);
}

/// \returns the families of the real operands
std::vector<Family> draw_operands(Case& c, const spec::Instance& instance, Draw& draw) {
  const auto roles = integer_roles(instance.system);
  auto families = families_of(c, draw);
  if (saturates(instance.system)) temper(families, draw);
  if (c.key.check == Check::special && !families.empty()) {
    const auto sure = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(families.size()) - 1));
    for (std::size_t i = 0; i < families.size(); ++i) {
      if (i == sure || draw.chance(0.5)) families[i] = Family::special;
    }
  }
  std::size_t input = 0;
  for (std::size_t i = 0; i < c.call.operands.size(); ++i) {
    const auto& type = c.call.operands[i];
    if (!type) {
      c.operands.emplace_back();
      continue;
    }
    switch (kind_of(type->dtype)) {
      case Kind::real:
        c.operands.emplace_back(draw_real(draw, families[i], type->dtype, type->dims));
        break;
      case Kind::integer:
        c.operands.emplace_back(draw_integer(draw, roles[input], type->dtype, type->dims));
        break;
      case Kind::boolean:
        c.operands.emplace_back(draw_boolean(draw, type->dims));
        break;
    }
    ++input;
  }
  if (definition_of(c).operand_count == 2 && takes_integers(definition_of(c))) meet_lowest(c, draw);
  repeat_operand(c, draw);
  meet_one_sign(c, instance.system);
  make_operands_faint(c, draw);
  return families;
}

std::size_t elements_of_derivatives(const Case& c) {
  if (c.mode == spec::Mode::forward) return 0;
  std::size_t count = 0;
  for (const auto& t : c.mode == spec::Mode::jvp ? c.cotangents : c.tangents) {
    if (t) count += static_cast<std::size_t>(t->dims.count());
  }
  return c.mode == spec::Mode::jvp_of_vjp ? 2 * count : count;
}

// Every other case has some elements at which conditions of the equations turn.
void turn_conditions(Case& c, const spec::System& system, Draw& draw) {
  const bool asked = c.key.check == Check::value || c.key.check == Check::jvp || c.key.check == Check::vjp;
  if (!asked || c.key.index % 2 == 0) return;
  std::vector<HostTensor*> inputs;
  for (auto& t : c.operands) {
    if (t) inputs.push_back(&*t);
  }
  constexpr std::size_t wanted = 3;
  const Met met = meet_thresholds(system, inputs, wanted, draw);
  if (met.below > 0) c.classes.emplace_back("below_threshold");
  if (met.at > 0) c.classes.emplace_back("at_threshold");
  if (met.above > 0) c.classes.emplace_back("above_threshold");
}

bool has_real_result(const spec::Instance& instance) {
  for (const spec::ValueType& type : instance.results) {
    if (is_real(type.dtype)) return true;
  }
  return false;
}

/// Whether an axis of one element stands before another in layouts of this kind: where the buffer begins is looked for there.
bool has_axis_of_one(Unusual kind) { return kind == Unusual::offset || kind == Unusual::reversed; }

// Every tensor but a few lies in its buffer in an unusual way, one of them as the index says.
void arrange(Case& c, Draw& draw) {
  const auto kind = static_cast<Unusual>(c.key.index % unusual_count);
  const bool apart = is_second(c.key.dtype);
  bool first = true;
  const auto arrange_all = [&](std::vector<std::optional<HostTensor>>& tensors, std::vector<std::optional<Arrangement>>& to) {
    for (auto& t : tensors) {
      to.emplace_back();
      if (!t || (!first && draw.chance(0.2))) continue;
      const bool as_said = first || draw.chance(0.5);
      to.back() = draw_arrangement(draw, as_said ? kind : static_cast<Unusual>(draw.integer(0, unusual_count - 1)), t->dims, apart);
      repeat_where_expanded(*t, *to.back());
      first = false;
    }
  };
  std::vector<std::optional<Arrangement>> of_operands;
  arrange_all(c.operands, of_operands);
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (c.operands[i]) c.arrangements.operands.push_back(of_operands[i]);
  }
  if (c.mode == spec::Mode::jvp) arrange_all(c.tangents, c.arrangements.tangents);
  if (c.mode == spec::Mode::vjp) arrange_all(c.cotangents, c.arrangements.cotangents);
}

// From the start: no state yet and the first step; or in the middle of a long run.
void begin_steps(Case& c, const spec::Definition& definition, Draw& draw) {
  const auto links = state_links(definition);
  const bool late = c.key.index % 4 == 3;
  c.steps = late ? 1 : static_cast<int>(draw.integer(1, 10));
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i]) continue;
    HostTensor& t = *c.operands[i];
    if (t.dtype == DType::i64 && t.dims.rank == 0)
      set_element(t, 0, late ? static_cast<double>(draw.integer(10000, 1000000)) : 1);
    for (std::size_t r = 0; r < links.size(); ++r) {
      if (links[r] != i || i == 0) continue;
      t = late ? draw_real(draw, Family::unit, t.dtype, t.dims) : HostTensor(t.dtype, t.dims);
    }
  }
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
  return draw_assignment(definition, draw, wish, key.dtype);
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

}  // namespace

bool tells_elements_apart(const CaseKey& key) {
  return key.check == Check::layout || ((key.check == Check::jvp || key.check == Check::vjp) && key.index % families_in_turn == families_in_turn - 1);
}

std::size_t integer_cases(const spec::Definition& definition) {
  if (!takes_integers(definition)) return 0;
  constexpr std::size_t usual = 5;
  return std::max(usual, distinct_types * named_types(definition).second.size());
}

std::optional<Case> make_case(const CaseKey& key) {
  if (key.check == Check::program) return make_program_case(key);
  const spec::Definition& definition = key.library.named(key.operation);
  if (key.check == Check::step && state_links(definition).empty()) return std::nullopt;
  const std::uint64_t number = instance_of_index(key, definition);
  Draw types(draw_key(key, "types", number));
  auto assignment = assignment_of(key, definition, number, types);
  if (!assignment) return std::nullopt;
  if (key.check == Check::layout && has_axis_of_one(static_cast<Unusual>(key.index % unusual_count))) {
    if (auto changed = with_axis_of_one(definition, *assignment, key.dtype)) assignment = std::move(changed);
  }
  if (key.check == Check::value && number % period == integer_instance) vary_shared_type(definition, *assignment, key.index, key.dtype);
  Case c;
  c.key = key;
  c.mode = mode_of(key);
  c.assignment = *assignment;
  c.call = *call_of(definition, *assignment, key.dtype);
  const spec::Instance instance = instance_of(c);
  Draw draw(draw_key(key, name_of(key.check), key.index));
  const std::vector<Family> families = draw_operands(c, instance, draw);
  if (key.check == Check::rejection) {
    const auto broken = break_call(definition, c.call, draw);
    if (!broken) return std::nullopt;
    c.call = *broken;
    for (std::size_t i = 0; i < c.operands.size(); ++i) {
      if (c.operands[i]) c.operands[i] = HostTensor(c.call.operands[i]->dtype, c.call.operands[i]->dims);
    }
    return c;
  }
  if (key.check == Check::step) begin_steps(c, definition, draw);
  c.planned = 0;
  for (const spec::ValueType& type : instance.results) c.planned += static_cast<std::size_t>(type.dims.count());
  c.classes = classes_of(c, families, instance.results);
  turn_conditions(c, instance.system, draw);
  if (c.mode != spec::Mode::forward) c.wrt = draw_wrt(types, c.operands);
  if (c.mode != spec::Mode::forward && (c.wrt.empty() || !has_real_result(instance))) {
    if (key.check != Check::layout && key.check != Check::large) return std::nullopt;
    c.mode = spec::Mode::forward;
    c.wrt.clear();
  }
  if (c.mode != spec::Mode::forward) draw_directions(c, instance.results, draw);
  c.planned += elements_of_derivatives(c);
  if (key.check == Check::layout) arrange(c, draw);
  return c;
}

}  // namespace etalon::conformance
