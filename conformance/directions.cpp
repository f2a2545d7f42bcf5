#include "conformance/directions.hpp"

#include <algorithm>

#include "conformance/faint.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

// Of several seeds one may be left out, whose terms are then not there.
constexpr double left_out = 0.1;

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

/// In every third case a cotangent, which then moves from 0, or in the second element type the direction of an operand or a cotangent.
void leave_one_of_second(Case& c, Draw& draw) {
  if (c.key.index % 3 != 1) return;
  std::vector<std::optional<HostTensor>*> given;
  const auto add = [&](std::vector<std::optional<HostTensor>>& seeds) {
    for (auto& seed : seeds) {
      if (seed) given.push_back(&seed);
    }
  };
  if (c.key.dtype == DType::f64) add(c.tangents), add(c.cotangent_tangents);
  else add(c.cotangents);
  if (!given.empty()) draw.pick(given)->reset();
}

/// At least one of those that count in the mode stays. An adjoint is asked for with both kinds.
void leave_one_out(Case& c, Draw& draw) {
  if (c.key.check == Check::adjoint) return;
  if (c.mode == spec::Mode::jvp_of_vjp) return leave_one_of_second(c, draw);
  std::vector<std::optional<HostTensor>*> given;
  const auto add = [&](std::vector<std::optional<HostTensor>>& seeds) {
    for (auto& seed : seeds) {
      if (seed) given.push_back(&seed);
    }
  };
  add(c.mode == spec::Mode::jvp ? c.tangents : c.cotangents);
  if (given.size() < 2 || !draw.chance(c.program ? 4 * left_out : left_out)) return;
  // Who differentiates scalars alone takes 1 for what is missing.
  const auto scalar = std::find_if(given.begin(), given.end(), [](const auto* seed) { return (*seed)->dims.rank == 0; });
  (scalar != given.end() ? **scalar : *draw.pick(given)).reset();
}

}  // namespace

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

void draw_directions(Case& c, std::span<const spec::ValueType> results, Draw& draw) {
  const bool apart = tells_elements_apart(c.key);
  const auto drawn = [&](DType dtype, const Dims& dims) {
    return apart ? draw_real(draw, Family::normal, dtype, dims) : draw_direction(draw, dtype, dims);
  };
  std::size_t input = 0;
  for (const auto& t : c.operands) {
    if (!t) continue;
    c.tangents.emplace_back();
    if (c.wrt[input++]) c.tangents.back() = drawn(t->dtype, t->dims);
  }
  for (const spec::ValueType& type : results) {
    c.cotangents.emplace_back();
    if (is_real(type.dtype)) c.cotangents.back() = drawn(type.dtype, type.dims);
  }
  if (c.mode == spec::Mode::jvp_of_vjp) {
    for (const spec::ValueType& type : results) {
      c.cotangent_tangents.emplace_back();
      if (is_real(type.dtype)) c.cotangent_tangents.back() = drawn(type.dtype, type.dims);
    }
  }
  make_directions_faint(c, draw);
  if (!apart) leave_one_out(c, draw);
}

}  // namespace etalon::conformance
