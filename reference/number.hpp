/// \file
/// The wide number types of the reference. Heavy to include: only for files that compute with them.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <boost/multiprecision/mpfr.hpp>

#include "reference/dual.hpp"

namespace etalon::reference {

template <unsigned Digits>
using Wide = boost::multiprecision::number<
    boost::multiprecision::mpfr_float_backend<Digits, boost::multiprecision::allocate_stack>,
    boost::multiprecision::et_off>;

using Real50 = Wide<50>;
using Real100 = Wide<100>;
/// Exact; transcendental primitives, infinities and NaN are Unsupported.
using Rational =
    boost::multiprecision::number<boost::multiprecision::cpp_rational_backend, boost::multiprecision::et_off>;

}  // namespace etalon::reference
