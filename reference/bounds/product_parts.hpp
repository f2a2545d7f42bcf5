/// \file
/// A product taken apart: its powers of two, which round nothing, and how far partial results may reach in any
/// association. It knows neither rounding nor contracts.
#pragma once

#include <algorithm>
#include <cstddef>

#include <boost/container/small_vector.hpp>

#include "reference/bounds/arithmetic.hpp"

namespace etalon::reference::bounds {

/// How large (rounded up) and how small (rounded down) partial results may be, in any association: quotients of some
/// factors by some divisors, and products of divisors alone.
struct Extents {
  double above = 1;
  double below = 1;
  double divisors_above = 1;
  double divisors_below = 1;

  void add(double least, double most, bool divides) {
    above = mul_up(above, std::max(1.0, divides ? div_up(1, least) : most));
    below = mul_down(below, std::min(1.0, divides ? div_down(1, most) : least));
    if (!divides) return;
    divisors_above = mul_up(divisors_above, std::max(1.0, most));
    divisors_below = mul_down(divisors_below, std::min(1.0, least));
  }
  template <class R>
  void add(const Factor<R>& f) {
    if (f.value.may(admits_finite)) add(f.value.least(), f.value.magnitude(), f.divides);
  }
};

/// The factor's box, or that of its reciprocal.
template <class R>
[[nodiscard]] Interval box_of(const Factor<R>& f) {
  const Interval& box = f.value;
  return f.divides ? just(1) / box : box;
}

template <class R>
struct ProductParts {
  boost::container::small_vector<Factor<R>, 4> factors;  ///< other than powers of two
  int exponent = 0;                 ///< of the powers of two together
  bool negative = false;
  bool turned = false;              ///< some factor stands below a division below a division
  std::ptrdiff_t powers = 0;        ///< of two, that may be divided first
  std::ptrdiff_t divisors = 0;      ///< among the factors
  std::ptrdiff_t all_divisors = 0;  ///< powers of two included
  std::ptrdiff_t steps = 0;         ///< operations, those that only scale and reciprocals included
  double operations = 0;            ///< roundings, of quotients as many as they err like
  Extents scaling;                  ///< of the powers of two
  Extents extents;                  ///< of all finite parts
};

}  // namespace etalon::reference::bounds
