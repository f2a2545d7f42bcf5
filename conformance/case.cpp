#include "conformance/case.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "conformance/coverage.hpp"
#include "conformance/saturation.hpp"
#include "conformance/shapes.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {
namespace {

constexpr std::array check_names{"value", "jvp", "vjp", "step", "adjoint", "special", "rejection", "determinism"};
static_assert(check_names.size() == check_count);

// Several sets of numbers share one instance, so that a backend compiles it once.
constexpr std::uint64_t draws_per_instance = 4;

// Every tenth instance may hold no element.
constexpr std::uint64_t period = 10;
constexpr std::uint64_t empty_instance = 1;

std::uint64_t instance_of_index(const CaseKey& key) {
  switch (key.check) {
    case Check::value:
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
    default:
      return key.index;
  }
}

SizeWish wish_of(std::uint64_t instance, Check check) {
  if (check == Check::step || check == Check::rejection) return {.elements = 24, .edges = false};
  if (instance % period == 6) return {.elements = 1, .edges = false};
  switch (instance % 5) {
    case 1:
      return {.elements = 24, .edges = true, .empty = instance % period == empty_instance};
    case 3:
      return {.elements = 60, .edges = false};
    default:
      return {.elements = 400, .edges = false};
  }
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
    default:
      return spec::Mode::forward;
  }
}

bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

// Tangents and cotangents: ordinary numbers, small integers, one number everywhere (what was expanded from a sum), or a
// single one.
HostTensor draw_direction(Draw& draw, DType dtype, const Dims& dims) {
  using enum Family;
  static const std::vector<Family> families{normal, normal, normal, ties, signs, unit};
  HostTensor direction = draw_real(draw, draw.pick(families), dtype, dims);
  if (dims.count() > 0 && draw.chance(0.12)) {
    const double everywhere = draw.chance(0.5) ? 1 : element(direction, 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i) set_element(direction, i, everywhere);
    return direction;
  }
  if (dims.count() > 0 && draw.chance(0.1)) {
    direction = HostTensor(dtype, dims);
    set_element(direction, static_cast<std::size_t>(draw.integer(0, dims.count() - 1)), 1);
  }
  return direction;
}

std::vector<bool> draw_wrt(Draw& draw, const std::vector<std::optional<HostTensor>>& operands) {
  std::vector<bool> wrt;
  std::vector<std::size_t> real;
  for (const auto& t : operands) {
    if (!t) continue;
    if (is_real(t->dtype)) real.push_back(wrt.size());
    wrt.push_back(is_real(t->dtype) && draw.chance(0.75));
  }
  if (real.empty()) return {};
  wrt[draw.pick(real)] = true;
  return wrt;
}

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

/// \returns the families of the real operands
std::vector<Family> draw_operands(Case& c, const spec::Instance& instance, Draw& draw) {
  const auto roles = integer_roles(instance.system);
  auto families = draw_families(draw, c.call.operands.size(), c.key.index);
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
  repeat_operand(c, draw);
  return families;
}

void draw_directions(Case& c, const spec::Instance& instance, Draw& draw) {
  std::size_t input = 0;
  for (const auto& t : c.operands) {
    if (!t) continue;
    c.tangents.emplace_back();
    if (c.wrt[input++]) c.tangents.back() = draw_direction(draw, t->dtype, t->dims);
  }
  for (const spec::ValueType& type : instance.results) {
    c.cotangents.emplace_back();
    if (is_real(type.dtype)) c.cotangents.back() = draw_direction(draw, type.dtype, type.dims);
  }
}

bool has_real_result(const spec::Instance& instance) {
  for (const spec::ValueType& type : instance.results) {
    if (is_real(type.dtype)) return true;
  }
  return false;
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

// Operands of any type hold integers and truth values too.
void vary_shared_type(const spec::Definition& definition, Assignment& assignment, Draw& draw, DType dtype) {
  Assignment varied = assignment;
  varied.shared_type = draw.pick(std::vector<DType>{DType::i64, DType::i32, DType::boolean});
  const auto call = call_of(definition, varied, dtype);
  const auto usual = call_of(definition, assignment, dtype);
  if (!call) return;
  for (std::size_t i = 0; i < call->operands.size(); ++i) {
    if (call->operands[i] && call->operands[i]->dtype != usual->operands[i]->dtype) assignment = varied;
  }
}

std::string key_text(const CaseKey& key, std::string_view purpose, std::uint64_t index) {
  return fmt::format("{}/{}/{}/{}/{}/{}", key.library.hash(), key.seed, key.operation, name_of(key.dtype), purpose,
                     index);
}

std::vector<std::string> operand_names(const spec::Definition& d, const CallTypes& call) {
  std::vector<std::string> names;
  std::size_t pack = 0;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const std::string name(d.at(d.operands[i].name));
    if (!d.operands[i].pack) {
      names.push_back(name);
      continue;
    }
    const std::size_t members = pack < call.packs.size() ? call.packs[pack] : call.operands.size() - names.size();
    ++pack;
    for (std::size_t m = 0; m < members; ++m) names.push_back(name + "_" + std::to_string(m));
  }
  return names;
}

}  // namespace

std::string_view name_of(Check check) { return check_names[static_cast<std::size_t>(check)]; }

std::string_view name_of(spec::Mode mode) {
  switch (mode) {
    case spec::Mode::forward:
      return "forward";
    case spec::Mode::jvp:
      return "jvp";
    case spec::Mode::vjp:
      return "vjp";
    case spec::Mode::jvp_of_vjp:
      return "jvp_of_vjp";
  }
  return "?";
}

std::string id_of(const CaseKey& key) {
  return fmt::format("{}.{}.{}.{:04}@{}-{}", key.operation, name_of(key.check), name_of(key.dtype), key.index, key.seed,
                     key.library.hash().substr(0, 8));
}

CaseKey parse_id(std::string_view id, const spec::Library& library) {
  const auto malformed = [&] {
    return SpecViolation(fmt::format("replay: `{}` is not an id such as `softmax.vjp.f32.0012@1-9f3c2a11`", id));
  };
  std::array<std::string_view, 6> parts;
  std::string_view rest = id;
  constexpr std::string_view ends = "...@-";
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t at = rest.find(ends[i]);
    if (at == std::string_view::npos) throw malformed();
    parts[i] = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  parts[5] = rest;
  CaseKey key;
  key.operation = parts[0];
  const auto dtype = dtype_named(parts[2]);
  bool known = false;
  for (std::size_t i = 0; i < check_count; ++i) {
    if (parts[1] != check_names[i]) continue;
    key.check = static_cast<Check>(i);
    known = true;
  }
  const auto read = [](std::string_view text, std::uint64_t& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
  };
  if (!dtype || !known || !read(parts[3], key.index) || !read(parts[4], key.seed)) throw malformed();
  key.dtype = *dtype;
  key.library = library;
  const std::string ours = library.hash().substr(0, 8);
  if (parts[5] != ours) {
    throw SpecViolation(fmt::format("replay: `{}` was made with specification {}, this is {}", id, parts[5], ours));
  }
  return key;
}

std::vector<HostTensor> present(const Case& c) {
  std::vector<HostTensor> inputs;
  for (const auto& t : c.operands) {
    if (t) inputs.push_back(*t);
  }
  return inputs;
}

spec::Instance instance_of(const Case& c) { return instance_of(c.call, c.key.library); }

spec::Instance instance_of(const CallTypes& call, const spec::Library& library) {
  return spec::instantiate(library.named(call.operation), call.operands, call.packs, call.attributes);
}

const std::string& specification_hash() { return spec::Library().hash(); }

const spec::Definition& definition_of(const Case& c) { return c.key.library.named(c.call.operation); }

std::optional<Case> make_case(const CaseKey& key) {
  const spec::Definition& definition = key.library.named(key.operation);
  if (key.check == Check::step && state_links(definition).empty()) return std::nullopt;
  const std::uint64_t number = instance_of_index(key);
  Draw types(key_text(key, "types", number));
  auto assignment = draw_assignment(definition, types, wish_of(number, key.check), key.dtype);
  if (!assignment) return std::nullopt;
  if (key.check == Check::value && number % period == 5) vary_shared_type(definition, *assignment, types, key.dtype);
  Case c;
  c.key = key;
  c.mode = mode_of(key);
  c.assignment = *assignment;
  c.call = *call_of(definition, *assignment, key.dtype);
  const spec::Instance instance = instance_of(c);
  Draw draw(key_text(key, name_of(key.check), key.index));
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
  if (c.mode == spec::Mode::forward) return c;
  c.wrt = draw_wrt(types, c.operands);
  if (c.wrt.empty() || !has_real_result(instance)) return std::nullopt;
  draw_directions(c, instance, draw);
  for (const auto& t : c.mode == spec::Mode::jvp ? c.cotangents : c.tangents) {
    if (t) c.planned += static_cast<std::size_t>(t->dims.count());
  }
  return c;
}

// As a backend sees them: complete, so that it needs no table of defaults. Of an ill-typed call, as they were drawn.
static spec::Attributes filled_attributes(const Case& c) {
  if (c.key.check == Check::rejection) return c.call.attributes;
  return instance_of(c).attributes;
}

spec::Request request_of(const Case& c, std::size_t results) {
  const spec::Definition& definition = definition_of(c);
  const std::vector<std::string> names = operand_names(definition, c.call);
  spec::Request request;
  request.program.definitions = c.key.library.texts_for(c.call.operation);
  request.id = id_of(c.key);
  request.mode = c.mode;
  spec::Call call;
  call.operation = c.call.operation;
  call.packs = c.call.packs;
  call.attributes = filled_attributes(c);
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (!c.operands[i]) {
      call.operands.emplace_back();
      continue;
    }
    spec::Input input;
    input.name = i < names.size() ? names[i] : "x" + std::to_string(i);
    input.dtype = c.operands[i]->dtype;
    input.dims = c.operands[i]->dims;
    call.operands.emplace_back(input.name);
    request.program.inputs.push_back(std::move(input));
    request.inputs.push_back(*c.operands[i]);
  }
  for (std::size_t r = 0; r < results; ++r) {
    const bool named = results == definition.result_count;
    const std::string name(definition.at(definition.results[named ? r : 0].name));
    call.results.push_back(named ? name : name + "_" + std::to_string(r));
    request.program.outputs.push_back(call.results.back());
  }
  request.program.steps.emplace_back(std::move(call));
  request.wrt = c.wrt;
  if (c.mode == spec::Mode::jvp) request.tangents = c.tangents;
  if (c.mode == spec::Mode::vjp) request.cotangents = c.cotangents;
  return request;
}

std::size_t elements_of(const Case& c) {
  std::size_t count = 0;
  for (const auto* group : {&c.operands, &c.tangents, &c.cotangents}) {
    for (const auto& t : *group) count += t ? static_cast<std::size_t>(t->dims.count()) : 0;
  }
  return count;
}

}  // namespace etalon::conformance
