#include "conformance/faint.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {
namespace {

// Places in the order of the families of numbers.
constexpr std::array<std::uint64_t, 2> values{12, 18};
constexpr std::array<std::uint64_t, 3> along_faint{9, 13, 16};
constexpr std::array<std::uint64_t, 1> balanced_values{18}, balanced_directions{13}, tiny{14};
// Of cases that share an instance with one of ordinary numbers.
constexpr std::array<std::uint64_t, 5> directions{4, 8, 10, 12, 18};

bool is_derivative(const CaseKey& key) { return key.check == Check::jvp || key.check == Check::vjp; }

template <std::size_t N>
bool is_among(const std::array<std::uint64_t, N>& places, const CaseKey& key) {
  return std::find(places.begin(), places.end(), key.index % families_in_turn) != places.end();
}

bool has_faint_operands(const CaseKey& key) {
  return key.check == Check::value ? is_among(values, key) : is_derivative(key) && is_among(along_faint, key);
}

std::size_t count(const HostTensor& t) { return static_cast<std::size_t>(t.dims.count()); }

bool is_balanced(const CaseKey& key) {
  return key.check == Check::value ? is_among(balanced_values, key) : is_derivative(key) && is_among(balanced_directions, key);
}

void scale(const std::vector<HostTensor*>& tensors, int by) {
  for (HostTensor* t : tensors) {
    for (std::size_t i = 0; i < count(*t); ++i) set_element(*t, i, std::ldexp(element(*t, i), by));
  }
}

// Scaled together so that the largest are subnormal and keep most of their bits.
void make_faint(const std::vector<HostTensor*>& tensors, Draw& draw) {
  double largest = 0;
  for (const HostTensor* t : tensors) {
    for (std::size_t i = 0; i < count(*t); ++i) {
      const double x = std::fabs(element(*t, i));
      if (std::isfinite(x)) largest = std::max(largest, x);
    }
  }
  if (tensors.empty() || largest == 0) return;
  const spec::Format f = spec::format_of(tensors.front()->dtype);
  scale(tensors, f.emin - 1 - std::ilogb(largest) - static_cast<int>(draw.integer(0, f.precision / 4)));
}

// So large that products with subnormal numbers are ordinary, and sums of some of them finite.
void make_vast(HostTensor& t) {
  const int emin = spec::format_of(t.dtype).emin;
  scale({&t}, std::max(-emin - 24, -emin / 2));
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
  const bool squares = is_among(tiny, c.key) && (c.key.check == Check::value || is_derivative(c.key));
  if (!has_faint_operands(c.key) && !squares) return;
  const std::vector<HostTensor*> all = present(c.operands);
  if (all.size() < 2) return;
  // Each operand in turn, the two element types and modes at different ones.
  const std::uint64_t turn = c.key.seed + c.key.index / 2 + static_cast<std::uint64_t>(c.key.dtype) + static_cast<std::uint64_t>(c.mode);
  const auto sure = static_cast<std::size_t>(turn % all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool faint = i == sure || draw.chance(0.5);
    if (faint) make_faint({all[i]}, draw);
    else if (is_balanced(c.key) && draw.chance(0.7)) make_vast(*all[i]);
  }
}

void make_directions_faint(Case& c, Draw& draw) {
  if (!is_derivative(c.key)) return;
  auto& given = c.mode == spec::Mode::jvp ? c.tangents : c.cotangents;
  if (is_among(directions, c.key)) return make_faint(present(given), draw);
  if (!has_faint_operands(c.key)) return;
  if (c.mode == spec::Mode::vjp) {
    if (is_balanced(c.key)) for (HostTensor* t : present(given)) make_vast(*t);
    return;
  }
  std::size_t input = 0;
  for (const auto& t : c.operands) {
    if (!t) continue;
    auto& tangent = c.tangents[input++];
    if (!tangent) continue;
    if (is_balanced(c.key) && (!is_faint(*t) || draw.chance(0.4))) make_vast(*tangent);
    if (!is_balanced(c.key) && is_faint(*t)) make_faint({&*tangent}, draw);
  }
}

}  // namespace etalon::conformance
