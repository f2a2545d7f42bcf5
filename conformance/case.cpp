#include "conformance/case.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "conformance/breaking.hpp"
#include "conformance/case_choices.hpp"
#include "conformance/case_instance.hpp"
#include "conformance/coverage.hpp"
#include "conformance/directions.hpp"
#include "conformance/faint.hpp"
#include "conformance/integers.hpp"
#include "conformance/one_sign.hpp"
#include "conformance/program_case.hpp"
#include "conformance/saturation.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "conformance/thresholds.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

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

// Derivatives say most where some results have a number and others none.
Straying straying_of(const Case& c, const spec::Instance& instance) {
  if (c.mode == spec::Mode::forward) return {};
  const bool one_number = std::all_of(instance.results.begin(), instance.results.end(), [](const spec::ValueType& t) { return t.dims.count() <= 1; });
  return {.chance = one_number ? 0.1 : 0.6};
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
        c.operands.emplace_back(draw_integer(draw, roles[input], type->dtype, type->dims, straying_of(c, instance)));
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

// Every other case has some elements at which conditions of the equations turn; those of some instances, at which their sides are
// equal.
void turn_conditions(Case& c, const spec::System& system, std::uint64_t instance, Draw& draw) {
  const bool asked = c.key.check == Check::value || c.key.check == Check::jvp || c.key.check == Check::vjp;
  const bool ties = has_ties(c.key, instance);
  if (!asked || (c.key.index % 2 == 0 && !ties)) return;
  std::vector<HostTensor*> inputs;
  for (auto& t : c.operands) {
    if (t) inputs.push_back(&*t);
  }
  constexpr std::size_t wanted = 3;
  const Met met = meet_thresholds(system, inputs, wanted, ties ? Sides::equal : Sides::any, draw);
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

/// The case of this key with the choices that lead to the call. \param types what else hangs on the instance is drawn from
std::optional<Case> drawn_case(const CaseKey& key, const Assignment& assignment, const CallTypes& call, Draw& types) {
  const spec::Definition& definition = key.library.named(key.operation);
  const std::uint64_t number = instance_number(key, definition);
  Case c;
  c.key = key;
  c.mode = mode_of(key);
  c.assignment = assignment;
  c.call = call;
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
  turn_conditions(c, instance.system, number, draw);
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

}  // namespace

bool tells_elements_apart(const CaseKey& key) {
  return key.check == Check::layout || ((key.check == Check::jvp || key.check == Check::vjp) && key.index % families_in_turn == families_in_turn - 1);
}

std::optional<Case> make_case(const CaseKey& key) {
  if (key.check == Check::program) return make_program_case(key);
  const spec::Definition& definition = key.library.named(key.operation);
  if (key.check == Check::step && state_links(definition).empty()) return std::nullopt;
  const std::uint64_t number = instance_number(key, definition);
  Draw types(draw_key(key, "types", number));
  const auto assignment = choices_of(key, definition, number, types);
  if (!assignment) return std::nullopt;
  return drawn_case(key, *assignment, *call_of(definition, *assignment, key.dtype), types);
}

std::optional<Case> make_case(const CaseKey& key, const Assignment& assignment) {
  const spec::Definition& definition = key.library.named(key.operation);
  const auto call = call_of(definition, assignment, key.dtype);
  if (!call) return std::nullopt;
  Draw types(draw_key(key, "types", instance_number(key, definition)));
  return drawn_case(key, assignment, *call, types);
}

}  // namespace etalon::conformance
