#include "conformance/faint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {
namespace {

// Places in the order of the families of numbers, which these cases take from families of ordinary ones; with more than
// the fewest elements.
constexpr std::size_t families = 21;
constexpr std::array<std::uint64_t, 2> values{12, 18}, along_faint{13, 16};
constexpr std::array<std::uint64_t, 5> directions{2, 10, 12, 18, 20};

bool is_derivative(const CaseKey& key) { return key.check == Check::jvp || key.check == Check::vjp; }

template <std::size_t N>
bool is_among(const std::array<std::uint64_t, N>& places, const CaseKey& key) {
  return std::find(places.begin(), places.end(), key.index % families) != places.end();
}

bool has_faint_operands(const CaseKey& key) {
  return key.check == Check::value ? is_among(values, key) : is_derivative(key) && is_among(along_faint, key);
}

std::size_t count(const HostTensor& t) { return static_cast<std::size_t>(t.dims.count()); }

// Scaled together so that the largest are subnormal and keep most of their bits.
void scale(const std::vector<HostTensor*>& tensors, Draw& draw) {
  double largest = 0;
  for (const HostTensor* t : tensors) {
    for (std::size_t i = 0; i < count(*t); ++i) {
      const double x = std::fabs(element(*t, i));
      if (std::isfinite(x)) largest = std::max(largest, x);
    }
  }
  if (tensors.empty() || largest == 0) return;
  const spec::Format f = spec::format_of(tensors.front()->dtype);
  const int by = f.emin - 1 - std::ilogb(largest) - static_cast<int>(draw.integer(0, f.precision / 4));
  for (HostTensor* t : tensors) {
    for (std::size_t i = 0; i < count(*t); ++i) set_element(*t, i, std::ldexp(element(*t, i), by));
  }
}

bool is_faint(const HostTensor& t) {
  const double normal = std::ldexp(1.0, spec::format_of(t.dtype).emin);
  bool found = false;
  for (std::size_t i = 0; i < count(t); ++i) {
    const double x = element(t, i);
    if (x != 0 && !(std::fabs(x) < normal)) return false;
    found = found || x != 0;
  }
  return found;
}

std::vector<HostTensor*> present(std::vector<std::optional<HostTensor>>& tensors) {
  std::vector<HostTensor*> all;
  for (auto& t : tensors) {
    if (t && kind_of(t->dtype) == Kind::real) all.push_back(&*t);
  }
  return all;
}

}  // namespace

void make_operands_faint(Case& c, Draw& draw) {
  if (!has_faint_operands(c.key)) return;
  const std::vector<HostTensor*> all = present(c.operands);
  if (all.size() < 2) return;
  const auto sure = static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(all.size()) - 1));
  std::vector<HostTensor*> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == sure || draw.chance(0.5)) some.push_back(all[i]);
  }
  for (HostTensor* t : some) scale({t}, draw);
}

void make_directions_faint(Case& c, Draw& draw) {
  if (!is_derivative(c.key)) return;
  if (is_among(directions, c.key)) return scale(present(c.mode == spec::Mode::jvp ? c.tangents : c.cotangents), draw);
  if (c.mode != spec::Mode::jvp || !has_faint_operands(c.key)) return;
  std::size_t input = 0;
  for (const auto& t : c.operands) {
    if (!t) continue;
    auto& tangent = c.tangents[input++];
    if (tangent && is_faint(*t)) scale({&*tangent}, draw);
  }
}

}  // namespace etalon::conformance
