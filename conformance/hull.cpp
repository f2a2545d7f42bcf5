#include "conformance/hull.hpp"

#include <algorithm>
#include <utility>

namespace etalon::conformance {

Hull::Hull(const reference::Envelope& envelope)
    : dtype(envelope.dtype),
      dims(envelope.dims),
      lower(envelope.lower),
      upper(envelope.upper),
      least(envelope.exact),
      greatest(envelope.exact),
      flags(envelope.flags) {
  add(envelope);
}

void Hull::add(const reference::Envelope& envelope) {
  if (kind_of(dtype) != Kind::real) {
    const auto take = [&](std::size_t i, std::int64_t value) {
      least[i] = std::min(least[i], value);
      greatest[i] = std::max(greatest[i], value);
    };
    for (std::size_t i = 0; i < least.size(); ++i) take(i, envelope.exact[i]);
    for (const reference::Alternatives& a : envelope.alternatives) {
      for (const auto& branch : a.branches) {
        for (std::size_t k = 0; k < a.elements.size(); ++k) take(a.elements[k], branch[k].exact);
      }
    }
  }
  for (std::size_t i = 0; i < flags.size(); ++i) {
    // Beside special values alone the ends say nothing.
    const bool has_numbers = (flags[i] & reference::admits_finite) != 0;
    if ((envelope.flags[i] & reference::admits_finite) != 0) {
      lower[i] = has_numbers ? std::min(lower[i], envelope.lower[i]) : envelope.lower[i];
      upper[i] = has_numbers ? std::max(upper[i], envelope.upper[i]) : envelope.upper[i];
    }
    flags[i] |= envelope.flags[i];
  }
}

Hull of_elements(Hull hull, const std::vector<std::size_t>& elements) {
  const auto choose = [&](auto& values) {
    if (values.empty()) return;
    auto all = std::exchange(values, {});
    for (const std::size_t i : elements) values.push_back(all[i]);
  };
  choose(hull.lower);
  choose(hull.upper);
  choose(hull.least);
  choose(hull.greatest);
  choose(hull.flags);
  hull.dims = {static_cast<std::int64_t>(elements.size())};
  return hull;
}

std::vector<Hull> hulls_of(const reference::Envelopes& envelopes) {
  return {envelopes.outputs.begin(), envelopes.outputs.end()};
}

}  // namespace etalon::conformance
