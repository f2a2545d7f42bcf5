#include "conformance/sample.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "conformance/draw.hpp"
#include "conformance/integers.hpp"
#include "conformance/shapes.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "reference/interruptible.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

/// How far a call is from one that a reader takes in at a glance and learns from: few elements and axes, but no operand
/// of one element where there could be more, no extent 1 or 0, no pack of one.
[[nodiscard]] std::int64_t burden(const spec::Definition& definition, const CallTypes& call) {
  const auto* last = definition.operands + definition.operand_count;
  const bool packs = std::any_of(definition.operands, last, [](const auto& operand) { return operand.pack; });
  std::int64_t total = packs && call.operands.size() <= definition.operand_count ? 20 : 0;
  for (const auto& operand : call.operands) {
    if (!operand) continue;
    total += operand->dims.count() + 4 * static_cast<std::int64_t>(operand->dims.rank) + (operand->dims.rank == 0 ? 20 : 0);
    for (const std::int64_t extent : operand->dims) total += extent < 2 ? 20 : 0;
  }
  return total;
}

/// The smallest of a few calls that still shows something.
[[nodiscard]] std::optional<CallTypes> small_call(const spec::Definition& definition, DType dtype, Draw& draw) {
  std::optional<CallTypes> best;
  reference::Interruptible* const interruptible = reference::Interruptible::innermost();
  for (int attempt = 0; attempt < 48; ++attempt) {
    // Of a definition that has no call all attempts are long.
    if (interruptible != nullptr) interruptible->ask_in_time();
    const auto assignment = draw_assignment(definition, draw, {.elements = 6, .edges = false}, dtype);
    auto call = assignment ? call_of(definition, *assignment, dtype) : std::nullopt;
    if (call && (!best || burden(definition, *call) < burden(definition, *best))) best = std::move(call);
  }
  return best;
}

[[nodiscard]] bool has_elements(const Case& c) {
  try {
    const spec::Instance instance = instance_of(c);
    return std::all_of(instance.results.begin(), instance.results.end(), [](const spec::ValueType& t) { return t.dims.count() > 0; });
  } catch (const SpecViolation&) {
    return false;
  }
}

/// The call with the defaults of those attributes that have one, as far as it is well typed so.
void prefer_defaults(Case& c) {
  const spec::Attributes drawn = c.call.attributes;
  for (const auto& [name, value] : drawn) {
    c.call.attributes.erase(name);
    if (!has_elements(c)) c.call.attributes.emplace(name, value);
  }
}

[[nodiscard]] HostTensor quarters(Draw& draw, DType dtype, const Dims& dims) {
  HostTensor tensor = draw_real(draw, Family::normal, dtype, dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i)
    set_element(tensor, i, std::round(element(tensor, i) * 4) / 4);
  return tensor;
}

[[nodiscard]] HostTensor operand_of(Draw& draw, const spec::ValueType& type, const IntegerRole& role) {
  if (kind_of(type.dtype) == Kind::real) return quarters(draw, type.dtype, type.dims);
  if (kind_of(type.dtype) == Kind::integer) {
    HostTensor tensor = draw_integer(draw, role, type.dtype, type.dims);
    for (std::size_t i = 0; role.counts && i < static_cast<std::size_t>(type.dims.count()); ++i)
      set_element(tensor, i, std::fmod(std::abs(element(tensor, i)), 4) + 1);
    return tensor;
  }
  return draw_boolean(draw, type.dims);
}

[[nodiscard]] bool has_nan(const std::vector<HostTensor>& tensors) {
  for (const HostTensor& tensor : tensors) {
    if (kind_of(tensor.dtype) != Kind::real) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.dims.count()); ++i) {
      if (std::isnan(element(tensor, i))) return true;
    }
  }
  return false;
}

/// Moves the real operands into the positive numbers where the operation has no values otherwise.
void move_into_domain(Case& c) {
  spec::Request request = request_of(c);
  request.mode = spec::Mode::forward;
  const spec::Answer answer = reference::make_reference_backend()->run(request);
  const auto* numbers = std::get_if<spec::Numbers>(&answer);
  if (numbers == nullptr || !has_nan(numbers->outputs)) return;
  for (auto& operand : c.operands) {
    if (!operand || kind_of(operand->dtype) != Kind::real) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(operand->dims.count()); ++i)
      set_element(*operand, i, std::abs(element(*operand, i)) + 0.25);
  }
}

void ask_for_cotangents(Case& c, const spec::Instance& instance, Draw& draw) {
  for (const auto& operand : c.operands) {
    if (operand) c.wrt.push_back(kind_of(operand->dtype) == Kind::real);
  }
  bool any = false;
  for (const spec::ValueType& result : instance.results) {
    const bool real = kind_of(result.dtype) == Kind::real;
    any = any || real;
    c.cotangents.push_back(real ? std::optional(quarters(draw, result.dtype, result.dims)) : std::nullopt);
  }
  if (any && std::find(c.wrt.begin(), c.wrt.end(), true) != c.wrt.end()) c.mode = spec::Mode::vjp;
}

}  // namespace

std::optional<Case> sample_call(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number) {
  const spec::Definition& definition = library.named(operation);
  Draw draw("explain " + std::string(definition.name) + " " + std::to_string(number));
  auto call = small_call(definition, dtype, draw);
  if (!call) return std::nullopt;
  Case c;
  c.key.operation = operation;
  c.key.library = library;
  c.key.dtype = dtype;
  c.call = std::move(*call);
  if (number == 0) prefer_defaults(c);
  const spec::Instance instance = instance_of(c);
  const std::vector<IntegerRole> roles = integer_roles(instance.system);
  std::size_t input = 0;
  for (const auto& type : c.call.operands)
    c.operands.push_back(type ? std::optional(operand_of(draw, *type, roles[input++])) : std::nullopt);
  move_into_domain(c);
  ask_for_cotangents(c, instance, draw);
  return c;
}

}  // namespace etalon::conformance
