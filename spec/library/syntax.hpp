/// \file
/// The operations that the operators of C++ stand for.
#pragma once

#include "spec/library/elementwise.hpp"

namespace etalon::spec::syntax {

inline constexpr auto plus = ops::add;
inline constexpr auto minus = ops::sub;
inline constexpr auto times = ops::mul;
inline constexpr auto over = ops::div;
inline constexpr auto negative = ops::neg;

}  // namespace etalon::spec::syntax
