#include "conformance/interchange/alternatives.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "conformance/values.hpp"

namespace etalon::conformance::interchange {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] HostTensor filled(const Way& way, DType dtype, double number) {
  HostTensor tensor(dtype, way.lower.dims);
  for (std::size_t i = 0; i < way.admits.size(); ++i) set_element(tensor, i, number);
  return tensor;
}

[[nodiscard]] bool any_admits(const Way& way, std::uint8_t flag) {
  return std::any_of(way.admits.begin(), way.admits.end(), [&](std::uint8_t admits) { return (admits & flag) != 0; });
}

/// 1 where the flag stands.
[[nodiscard]] HostTensor mask(const Way& way, std::uint8_t flag) {
  HostTensor tensor(DType::boolean, way.lower.dims);
  for (std::size_t i = 0; i < way.admits.size(); ++i)
    tensor.bytes[i] = std::byte{static_cast<unsigned char>((way.admits[i] & flag) != 0 ? 1 : 0)};
  return tensor;
}

/// A box of the elements with the flag; the others have an empty one.
[[nodiscard]] Alternative box(const Way& way, std::uint8_t flag, const std::string& suffix, HostTensor lower,
                              HostTensor upper) {
  for (std::size_t i = 0; i < way.admits.size(); ++i) {
    if ((way.admits[i] & flag) != 0) continue;
    set_element(lower, i, infinity);
    set_element(upper, i, -infinity);
  }
  return {Alternative::Kind::box, suffix, std::move(lower), std::move(upper)};
}

}  // namespace

std::vector<Alternative> alternatives_of(const Way& way, DType dtype) {
  if (dtype == DType::boolean) return {{Alternative::Kind::equal, "", way.lower, {}}};
  if (kind_of(dtype) == Kind::integer) return {{Alternative::Kind::box, "", way.lower, way.upper}};
  std::vector<Alternative> all{box(way, reference::admits_finite, "", way.lower, way.upper)};
  for (const auto& [flag, suffix, end] : {std::tuple(reference::admits_positive_infinity, "_inf", infinity),
                                          std::tuple(reference::admits_negative_infinity, "_minus_inf", -infinity)}) {
    if (any_admits(way, flag)) all.push_back(box(way, flag, suffix, filled(way, dtype, end), filled(way, dtype, end)));
  }
  if (any_admits(way, reference::admits_nan))
    all.push_back({Alternative::Kind::nan, "", mask(way, reference::admits_nan), {}});
  if (any_admits(way, reference::undecided))
    all.push_back({Alternative::Kind::anything, "", mask(way, reference::undecided), {}});
  return all;
}

}  // namespace etalon::conformance::interchange
