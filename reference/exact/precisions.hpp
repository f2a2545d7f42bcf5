/// \file
/// The precisions in which the reference computes, one after the other, until its answer is decided.
#pragma once

#include "reference/exact/enclosure.hpp"
#ifdef ETALON_WITHOUT_MPFR
#include "reference/exact/bin_float_end.hpp"
#else
#include "reference/exact/mpfr_end.hpp"
#endif

namespace etalon::reference {

/// The floating-point numbers at the ends of enclosures: MPFR's, or Boost's where MPFR is not to be had.
#ifdef ETALON_WITHOUT_MPFR
template <unsigned Bits>
using End = BinFloatEnd<Bits>;
#else
template <unsigned Bits>
using End = MpfrEnd<Bits>;
#endif

template <unsigned Bits>
using Precise = Enclosure<End<Bits>>;

/// Applies M to each precision in turn. In the last one every sum of products of three binary64 numbers is exact.
#define ETALON_FOR_EACH_PRECISION(M) M(191) M(511) M(2047) M(8191)

#define ETALON_EXTERN(Bits) extern template class Enclosure<End<Bits>>;
ETALON_FOR_EACH_PRECISION(ETALON_EXTERN)
#undef ETALON_EXTERN

}  // namespace etalon::reference
