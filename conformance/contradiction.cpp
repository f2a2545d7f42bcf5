#include "conformance/contradiction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/schemas.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"

namespace etalon::conformance {
namespace {

using reference::Array;
using reference::Real50;

constexpr std::uint64_t points = 12;   // at which a part is held to the meaning
constexpr std::uint64_t special = 4;   // of which also with ties and zeros
const Real50 largest_difference("1e-35");  // of 50 digits, after cancellation

[[nodiscard]] bool is_real(DType dtype) { return kind_of(dtype) == Kind::real; }

[[nodiscard]] std::vector<Array<Real50>> values_of(const Schema& schema) {
  std::vector<Array<Real50>> inputs;
  for (const HostTensor& t : schema.inputs) inputs.push_back(reference::from_host<Real50>(t));
  return reference::evaluate<Real50>(schema.system, inputs);
}

/// Where the definition means no number, bounds say what is admitted; where it means one, a part states one.
[[nodiscard]] bool loses_number(const Real50& stated, const Real50& meant) {
  using boost::multiprecision::isfinite;
  return isfinite(meant) && !isfinite(stated);
}

[[nodiscard]] bool differ(const Real50& stated, const Real50& meant) {
  using boost::multiprecision::isfinite;
  if (!isfinite(stated) || !isfinite(meant)) return loses_number(stated, meant);
  const Real50 scale = 1 + boost::multiprecision::abs(stated) + boost::multiprecision::abs(meant);
  return !(boost::multiprecision::abs(stated - meant) <= largest_difference * scale);
}

[[nodiscard]] bool has_number(const Array<Real50>& a) {
  if (a.real.empty()) return true;
  return std::any_of(a.real.begin(), a.real.end(), [](const Real50& x) { return boost::multiprecision::isfinite(x); });
}

/// Of a tangent, the result that it is of; where that is NaN, there is no derivative to hold a part to.
[[nodiscard]] const Array<Real50>* primal_of(const spec::System& system, std::size_t output, const std::vector<Array<Real50>>& meant) {
  for (std::size_t r = 0; r < output; ++r) {
    if (system[system.outputs[r]].name + "'" == system[system.outputs[output]].name) return &meant[r];
  }
  return nullptr;
}

using Differs = bool (*)(const Real50&, const Real50&);

[[nodiscard]] std::optional<std::string> difference(const Case& c, std::size_t part, Differs differs) {
  const Schema schema = stated_by(c, part);
  const auto stated = values_of(schema);
  const auto meant = values_of(meaning_of(c));
  // Where no result is a number, as the mean of nothing, there is no derivative to hold a part to.
  const std::size_t results = instance_of(c).results.size();
  const bool anywhere = std::any_of(meant.begin(), meant.begin() + static_cast<std::ptrdiff_t>(results), has_number);
  for (std::size_t o = 0; o < (anywhere ? stated.size() : results); ++o) {
    const Array<Real50>* primal = primal_of(schema.system, o, meant);
    const std::string& name = schema.system[schema.system.outputs[o]].name;
    for (std::size_t i = 0; i < stated[o].integer.size(); ++i) {
      if (stated[o].integer[i] == meant[o].integer[i]) continue;
      return fmt::format("{} is {}, the definition means {}", name, stated[o].integer[i], meant[o].integer[i]);
    }
    for (std::size_t i = 0; i < stated[o].real.size(); ++i) {
      if (primal != nullptr && isnan(primal->real[i])) continue;
      if (!differs(stated[o].real[i], meant[o].real[i])) continue;
      return fmt::format("{} is {}, the definition means {}", name, stated[o].real[i].str(12), meant[o].real[i].str(12));
    }
  }
  return std::nullopt;
}

/// The case with numbers of the family in place of its own.
void draw_anew(Case& c, Family family, std::uint64_t number) {
  Draw draw(fmt::format("parts of {} {}", c.key.operation, number));
  for (auto* tensors : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
    for (auto& t : *tensors) {
      if (t && is_real(t->dtype)) t = draw_real(draw, family, t->dtype, t->dims);
    }
  }
}

/// At ordinary numbers, where no kink is likely, a part gives what is meant; at ties and zeros, where kinks are, a number.
[[nodiscard]] std::optional<std::string> difference_near(Case c, std::size_t part, std::uint64_t number) {
  draw_anew(c, Family::normal, number);
  if (auto found = difference(c, part, differ)) return found;
  if (number >= special) return std::nullopt;
  for (const Family family : {Family::ties, Family::zeros}) {
    draw_anew(c, family, number);
    if (auto found = difference(c, part, loses_number)) return found;
  }
  return std::nullopt;
}

/// The questions that show what a part states: of cotangents also their derivatives, which follow from its equations.
[[nodiscard]] std::vector<Check> checks_of(spec::PartForm part) {
  switch (part) {
    case spec::PartForm::also: return {Check::value};
    case spec::PartForm::jvp: return {Check::jvp};
    case spec::PartForm::vjp: return {Check::vjp, Check::second};
  }
  return {};
}

[[nodiscard]] std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation,
                                                       std::size_t part, Check check) {
  const std::string its = fmt::format("{}: its {} part", operation, name_of(library.named(operation).parts[part - 1]));
  std::size_t cases = 0;
  for (std::uint64_t i = 0; i < points; ++i) {
    auto c = make_case({operation, check, DType::f64, 4 * i, 1, library});
    if (!c) continue;
    ++cases;
    const auto found = difference_near(std::move(*c), part, i);
    if (found) return fmt::format("{} differs from what it means: {}", its, *found);
  }
  if (cases == 0) return fmt::format("{} was not held to its meaning: no call of it can be drawn", its);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> contradiction(const spec::Library& library, const std::string& operation) {
  const spec::Definition& d = library.named(operation);
  for (std::size_t p = 1; p <= d.part_count; ++p) {
    for (const Check check : checks_of(d.parts[p - 1])) {
      if (auto found = contradiction(library, operation, p, check)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
