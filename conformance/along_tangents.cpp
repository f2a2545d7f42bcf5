#include "conformance/along_tangents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/schemas/envelopes_of.hpp"
#include "conformance/values.hpp"
#include "spec/half.hpp"

namespace etalon::conformance {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Roundings of the target's type, of the doubles that add here, and of the second order.
[[nodiscard]] double roundings(DType dtype, std::size_t additions) {
  const double u = std::ldexp(1.0, -spec::format_of(dtype).precision);
  const auto n = static_cast<double>(additions);
  return n * (u + 0x1p-53) * (1 + 2 * n * u);
}

[[nodiscard]] bool is_zero(const HostTensor& t) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    if (!(element(t, i) == 0)) return false;
  }
  return true;
}

[[nodiscard]] std::vector<std::size_t> directions(const Schema& schema) {
  std::vector<std::size_t> moving;
  std::copy_if(schema.tangents.begin(), schema.tangents.end(), std::back_inserter(moving),
               [&](std::size_t i) { return !is_zero(schema.inputs[i]); });
  return moving;
}

/// The schema with one tangent alone.
[[nodiscard]] Schema along(Schema schema, std::size_t direction) {
  for (const std::size_t i : schema.tangents) {
    HostTensor& tangent = schema.inputs[i];
    if (i != direction) tangent = HostTensor(tangent.dtype, tangent.dims);
  }
  return schema;
}

/// Sums of the ends over the directions; `open` where there is none.
struct Sums {
  std::vector<double> lower, upper, magnitude;
  std::vector<bool> open;
};

[[nodiscard]] Sums sums(const std::vector<reference::Envelopes>& parts, std::size_t output) {
  const std::size_t elements = parts.front().outputs[output].flags.size();
  Sums s{std::vector<double>(elements), std::vector<double>(elements), std::vector<double>(elements), std::vector<bool>(elements)};
  for (const reference::Envelopes& part : parts) {
    const reference::Envelope& e = part.outputs[output];
    for (std::size_t i = 0; i < elements; ++i) {
      s.lower[i] += e.lower[i];
      s.upper[i] += e.upper[i];
      s.magnitude[i] += std::max(std::abs(e.lower[i]), std::abs(e.upper[i]));
      if (e.flags[i] != reference::admits_finite) s.open[i] = true;
    }
    for (const reference::Alternatives& a : e.alternatives) {
      for (const std::size_t i : a.elements) s.open[i] = true;
    }
  }
  return s;
}

void put(reference::Envelope& to, const Sums& s, std::size_t additions) {
  for (std::size_t i = 0; i < s.open.size(); ++i) {
    if (s.open[i] || to.flags[i] != reference::admits_finite) continue;
    const double slack = roundings(to.dtype, additions) * s.magnitude[i];
    to.lower[i] = std::min(to.lower[i], std::nextafter(s.lower[i] - slack, -infinity));
    to.upper[i] = std::max(to.upper[i], std::nextafter(s.upper[i] + slack, infinity));
  }
}

}  // namespace

bool has_directions(const Schema& schema) { return directions(schema).size() > 1; }

reference::Envelopes along_directions(const Schema& schema, const reference::Envelopes& whole, const spec::Contract& contract) {
  std::vector<reference::Envelopes> parts;
  for (const std::size_t direction : directions(schema))
    parts.push_back(envelopes_of(along(schema, direction), contract));
  reference::Envelopes together = whole;
  for (std::size_t o = schema.first_tangent; o < together.outputs.size(); ++o) {
    reference::Envelope& e = together.outputs[o];
    if (kind_of(e.dtype) == Kind::real && e.alternatives.empty()) put(e, sums(parts, o), parts.size() - 1);
  }
  return together;
}

}  // namespace etalon::conformance
