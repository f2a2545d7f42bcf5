/// \file
/// The constants of one floating-point format as radii in double, and the error of one rounding (rule R1). It knows
/// nothing of expressions.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/bounds/interval.hpp"
#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::reference::bounds {

/// u = 2^-p; tau the smallest normal; eta the smallest subnormal; half_eta the double above eta/2, so that it covers what
/// underflows in the reference too; omega the largest finite number.
struct Rounding {
  DType dtype = DType::f32;
  int precision = 0;
  int eta_exponent = 0;
  double u = 0;
  double tau = 0;
  double eta = 0;
  double half_eta = 0;
  double omega = 0;
  double overflow = 0;  ///< omega + ulp(omega)/2: from here on a rounding gives an infinity

  [[nodiscard]] static Rounding of(DType dtype) {
    const spec::Format f = spec::format_of(dtype);
    Rounding r;
    r.dtype = dtype;
    r.precision = f.precision;
    r.eta_exponent = f.emin - f.precision + 1;
    r.u = std::ldexp(1.0, -f.precision);
    r.tau = std::ldexp(1.0, f.emin);
    r.eta = std::ldexp(1.0, r.eta_exponent);
    r.half_eta = up(scale_down(r.eta, -1));
    r.omega = std::ldexp(2.0 - std::ldexp(1.0, 1 - f.precision), f.emax);
    r.overflow = dtype == DType::f64 ? infinity : std::ldexp(2.0 - std::ldexp(1.0, -f.precision), f.emax);
    return r;
  }

  /// R1: the error of rounding any number of magnitude at most m.
  [[nodiscard]] double of_magnitude(double m) const { return m == 0 ? 0 : std::max(u * power_below(m), half_eta); }
  /// What k roundings make of a product, relatively to what it is (or to what they leave of it): ku/(1 - ku).
  [[nodiscard]] double of_product(double k) const {
    const double ku = mul_up(k, u);
    return ku < 1 ? div_up(ku, sub_down(1, ku)) : infinity;
  }
  /// Whether a multiple of 2^quantum of magnitude at most m is a number of the format.
  [[nodiscard]] bool holds(double m, std::int32_t quantum) const {
    return m == 0 || (quantum >= eta_exponent && m <= omega && m <= std::ldexp(1.0, precision + std::min(quantum, 4096)));
  }
};

}  // namespace etalon::reference::bounds
