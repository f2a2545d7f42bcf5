#include "conformance/next_to_nothing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "conformance/case_instance.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {
namespace {

constexpr std::uint64_t zero_case = 1, subnormal_case = 2, sparse_case = 3;

std::uint64_t place(const CaseKey& key) { return key.index % draws_per_instance; }

// Each element of the real tensors is changed by an even chance.
template <class Change>
void change_half(std::vector<std::optional<HostTensor>>& tensors, Draw& draw, Change change) {
  for (auto& t : tensors) {
    if (!t || kind_of(t->dtype) != Kind::real) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t->dims.count()); ++i) set_element(*t, i, change(element(*t, i), draw.chance(0.5), t->dtype));
  }
}

double faint(double x, DType dtype) {
  const spec::Format f = spec::format_of(dtype);
  return x == 0 ? 0 : std::ldexp(x, f.emin - 1 - f.precision / 4 - std::ilogb(x));
}

double vast(double x, DType dtype) {
  const int emin = spec::format_of(dtype).emin;
  return std::ldexp(x, std::max(-emin - 24, -emin / 2));
}

}  // namespace

bool is_next_to_nothing(const CaseKey& key) {
  return !tells_elements_apart(key) && is_next_to_nothing(key, instance_number(key, key.library.named(key.operation)));
}

std::vector<Family> next_to_nothing_families(std::size_t operands, const CaseKey& key) {
  const Family family = place(key) == sparse_case ? Family::normal : place(key) == subnormal_case ? Family::subnormal : Family::tiny;
  return std::vector<Family>(operands, family);
}

void make_operands_sparse(Case& c, Draw& draw) {
  const bool nothing = place(c.key) == zero_case && (c.key.index / draws_per_instance) % 2 == 1;
  if (nothing) change_half(c.operands, draw, [](double, bool, DType) { return 0.0; });
  if (place(c.key) == sparse_case) change_half(c.operands, draw, [](double x, bool chosen, DType dtype) { return chosen ? faint(x, dtype) : x; });
}

void make_directions_sparse(Case& c, Draw& draw) {
  auto& given = c.mode == spec::Mode::jvp ? c.tangents : c.cotangents;
  if (place(c.key) == subnormal_case) change_half(given, draw, [](double x, bool chosen, DType dtype) { return chosen ? faint(x, dtype) : x; });
  if (place(c.key) == sparse_case) change_half(given, draw, [](double x, bool chosen, DType dtype) { return chosen ? 0.0 : vast(x, dtype); });
}

}  // namespace etalon::conformance
