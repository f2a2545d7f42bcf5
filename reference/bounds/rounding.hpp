/// \file
/// The constants of one floating-point format as radii in double, and the error of one rounding (rule R1). It knows
/// nothing of expressions.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::reference::bounds {

/// u = 2^-p; tau the smallest normal; eta the smallest subnormal; half_eta an upper bound of eta/2 (eta itself where
/// a double cannot hold the half); omega the largest finite number.
struct Rounding {
  DType dtype = DType::f32;
  int precision = 24;
  int eta_exponent = -149;
  double u = 0x1p-24;
  double tau = 0x1p-126;
  double eta = 0x1p-149;
  double half_eta = 0x1p-150;
  double omega = 0x1.fffffep127;
  double overflow = 0x1.ffffffp127;  ///< omega + ulp(omega)/2: from here on a rounding gives an infinity

  [[nodiscard]] static Rounding of(DType dtype) {
    const spec::Format f = spec::format_of(dtype);
    Rounding r;
    r.dtype = dtype;
    r.precision = f.precision;
    r.eta_exponent = f.emin - f.precision + 1;
    r.u = std::ldexp(1.0, -f.precision);
    r.tau = std::ldexp(1.0, f.emin);
    r.eta = std::ldexp(1.0, r.eta_exponent);
    r.half_eta = r.eta_exponent > -1074 ? r.eta / 2 : r.eta;
    r.omega = std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.emax);
    r.overflow = dtype == DType::f64 ? std::numeric_limits<double>::infinity()
                                     : std::ldexp(2.0 - std::ldexp(1.0, -f.precision), f.emax);
    return r;
  }

  /// R1: the error of rounding any number of magnitude at most m.
  [[nodiscard]] double of_magnitude(double m) const { return m == 0 ? 0 : std::max(u * power_below(m), half_eta); }
  /// Whether a multiple of 2^quantum of magnitude at most m is a number of the format.
  [[nodiscard]] bool holds(double m, std::int32_t quantum) const {
    return m == 0 || (quantum >= eta_exponent && m <= omega && m <= std::ldexp(1.0, precision + std::min(quantum, 4096)));
  }
};

}  // namespace etalon::reference::bounds
