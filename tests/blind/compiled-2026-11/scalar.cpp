/// \file
/// Numbers: reals are computed wide, integers with the 64 bits of their own.
#include "scalar.hpp"

#include <cmath>
#include <limits>

#include "defect.hpp"

namespace blind {
namespace {

Int wrapped(Type type, std::uint64_t bits) {
  if (type == Type::i32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  return static_cast<Int>(bits);
}

std::uint64_t bits_of(Wide x) { return static_cast<std::uint64_t>(static_cast<Int>(x)); }

Wide integer_quotient(Int a, Int b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<Wide>(static_cast<Int>(0 - static_cast<std::uint64_t>(a)));
  if (PLANTED("integer-quotient-truncates")) return static_cast<Wide>(a / b);
  const Int q = a / b;
  return static_cast<Wide>(q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

Wide integer_remainder(Int a, Int b) {
  if (b == 0 || b == -1) return 0;
  const bool power_of_two = (b & (b - 1)) == 0 || (-b & (-b - 1)) == 0;
  if (PLANTED("integer-remainder-by-mask") && power_of_two && b < 0) return static_cast<Wide>(a & (-b - 1));
  const Int r = a % b;
  return static_cast<Wide>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

Wide integers(Op op, Type type, Wide a, Wide b) {
  if (PLANTED("integers-through-double") && (op == Op::add || op == Op::mul || op == Op::sub)) {
    a = static_cast<double>(a);
    b = static_cast<double>(b);
  }
  if (PLANTED("i32-is-not-wrapped-before-reading") && type == Type::i32 && op == Op::add) return a + b;
  const auto x = a >= 9223372036854775808.0L ? std::uint64_t{1} << 63 : bits_of(a);
  const auto y = b >= 9223372036854775808.0L ? std::uint64_t{1} << 63 : bits_of(b);
  const auto s = static_cast<Int>(x);
  const auto t = static_cast<Int>(y);
  switch (op) {
    case Op::neg:
      return static_cast<Wide>(wrapped(type, 0 - x));
    case Op::abs:
      return static_cast<Wide>(s < 0 ? wrapped(type, 0 - x) : s);
    case Op::sign:
      return static_cast<Wide>((s > 0) - (s < 0));
    case Op::add:
      return static_cast<Wide>(wrapped(type, x + y));
    case Op::sub:
      return static_cast<Wide>(wrapped(type, x - y));
    case Op::mul: {
      if (PLANTED("integer-product-of-low-words") && type == Type::i64) {
        return static_cast<Wide>(static_cast<Int>(static_cast<std::int32_t>(s)) *
                                 static_cast<Int>(static_cast<std::int32_t>(t)));
      }
      return static_cast<Wide>(wrapped(type, x * y));
    }
    case Op::fdiv:
      return static_cast<Wide>(wrapped(type, bits_of(integer_quotient(s, t))));
    case Op::rem:
      return integer_remainder(s, t);
    default:
      return a;
  }
}

Wide remainder_of(Wide a, Wide b) {
  if (PLANTED("remainder-by-quotient")) return a - std::floor(static_cast<float>(a / b)) * b;
  const Wide r = std::fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) return r + b;
  return r == 0 ? std::copysign(r, b) : r;
}

Wide to_integer(Type type, Wide x) {
  if (std::isnan(x)) return 0;
  x = std::trunc(x);
  const Wide low = type == Type::i32 ? -2147483648.0L : -9223372036854775808.0L;
  const Wide high = type == Type::i32 ? 2147483647.0L : 9223372036854775807.0L;
  return x < low ? low : x > high ? high : x;
}

Wide converted(Type from, Type to, Wide x) {
  if (to == Type::boolean) {
    if (PLANTED("cast-to-truth-truncates") && is_real(from)) return std::trunc(x) != 0;
    return x != 0;
  }
  if (is_integer(to)) {
    if (is_real(from)) return PLANTED("cast-to-integer-rounds") ? to_integer(to, std::rint(x)) : to_integer(to, x);
    return static_cast<Wide>(wrapped(to, bits_of(x)));
  }
  if (PLANTED("cast-of-integers-by-f32") && is_integer(from)) return static_cast<float>(x);
  return stored_as(to, x);
}

Wide larger(Wide a, Wide b) {
  if (PLANTED("maximum-drops-nan-on-the-left")) return a >= b ? a : b;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Wide>::quiet_NaN();
  return a >= b ? a : b;
}

Wide smaller(Wide a, Wide b) {
  if (PLANTED("minimum-drops-nan-on-the-right")) return b < a ? b : a;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Wide>::quiet_NaN();
  return a <= b ? a : b;
}

Wide sign_of(Wide x) {
  if (PLANTED("sign-of-nan-is-zero") && std::isnan(x)) return 0;
  if (PLANTED("sign-of-zero-by-its-bit") && x == 0) return std::signbit(x) ? -1 : 0;
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

Wide rounded(Wide x) {
  if (PLANTED("round-half-away")) return std::round(x);
  if (PLANTED("round-by-adding-half") && std::fabs(x) < 1e15L) {
    const bool down = std::fmod(x, 2.0L) == 0.5L || std::fmod(x, 2.0L) == -1.5L;
    return std::floor(static_cast<double>(x) + 0.5) - (down ? 1 : 0);
  }
  return std::rint(x);
}

Wide power_of(Wide a, Wide b) {
  if (PLANTED("power-by-logarithm") && a < 0) return std::exp(b * std::log(a));
  return std::pow(a, b);
}

}  // namespace

Wide stored_as(Type type, Wide x) {
  switch (type) {
    case Type::f32:
      if (PLANTED("subnormals-flushed") && std::fabs(x) < 1.1754943508222875e-38L) return std::copysign(0.0L, x);
      return static_cast<float>(x);
    case Type::f64:
      return static_cast<double>(x);
    case Type::boolean:
      return x != 0;
    default:
      return x;
  }
}

Wide evaluated(Op op, Type type, Type from, Wide a, Wide b, Wide c) {
  if (is_integer(from) && op != Op::cast &&
      (op == Op::neg || op == Op::abs || op == Op::sign || op == Op::add || op == Op::sub || op == Op::mul ||
       op == Op::fdiv || op == Op::rem)) {
    return integers(op, type, a, b);
  }
  switch (op) {
    case Op::neg:
      return -a;
    case Op::abs:
      return std::fabs(a);
    case Op::sign:
      return sign_of(a);
    case Op::floor: {
      const Wide y = std::floor(a);
      return PLANTED("floor-through-integer") ? std::fmin(std::fmax(y, -2147483648.0L), 2147483647.0L) : y;
    }
    case Op::ceil:
      return PLANTED("ceil-as-floor-plus-one") ? std::floor(a) + 1 : std::ceil(a);
    case Op::trunc:
      return std::trunc(a);
    case Op::round:
      return rounded(a);
    case Op::exp:
      return PLANTED("exp-clamped") && type == Type::f64 ? std::exp(std::fmin(a, 88.72283905206835L)) : std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::expm1:
      return PLANTED("expm1-by-subtraction") ? static_cast<double>(std::exp(a)) - 1.0L : std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::sqrt:
      return PLANTED("sqrt-of-magnitude") ? std::sqrt(std::fabs(a)) : std::sqrt(a);
    case Op::sin: {
      constexpr Wide turn = 6.283185307179586;
      return PLANTED("sin-reduced-in-double") && std::isfinite(a) ? std::sin(a - std::rint(a / turn) * turn)
                                                                  : std::sin(a);
    }
    case Op::cos:
      return std::cos(a);
    case Op::tan:
      return std::tan(a);
    case Op::sinh:
      return std::sinh(a);
    case Op::cosh:
      return std::cosh(a);
    case Op::tanh: {
      if (PLANTED("tanh-by-exponentials"))
        return (static_cast<double>(std::exp(2 * a)) - 1.0L) / (static_cast<double>(std::exp(2 * a)) + 1.0L);
      return std::tanh(a);
    }
    case Op::erf:
      return PLANTED("erf-saturates") && std::fabs(a) > 3 ? std::copysign(1.0L, a) : std::erf(a);
    case Op::isnan:
      return std::isnan(a);
    case Op::isinf:
      return PLANTED("isinf-of-positive-only") ? a == std::numeric_limits<Wide>::infinity() : std::isinf(a);
    case Op::isfinite:
      return PLANTED("isfinite-by-difference") ? !std::isinf(a) : std::isfinite(a);
    case Op::lnot:
      return a == 0;
    case Op::store:
      return stored_as(type, a);
    case Op::cast:
      return converted(from, type, a);
    case Op::detach:
      return a;
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::div:
      return a / b;
    case Op::pow:
      return power_of(a, b);
    case Op::fdiv:
      return std::floor(a / b);
    case Op::rem:
      return remainder_of(a, b);
    case Op::atan2: {
      if (PLANTED("atan2-by-quotient") && b > 0) return std::atan(a / b);
      return std::atan2(PLANTED("atan2-drops-sign-of-zero") ? a + 0.0L : a, b);
    }
    case Op::maximum:
      return larger(a, b);
    case Op::minimum:
      return smaller(a, b);
    case Op::eq:
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      return a < b;
    case Op::le:
      return PLANTED("le-as-not-gt") ? !(a > b) : a <= b;
    case Op::gt:
      return a > b;
    case Op::ge:
      return a >= b;
    case Op::land:
      return a != 0 && b != 0;
    case Op::lor:
      return a != 0 || b != 0;
    case Op::lxor:
      return (a != 0) != (b != 0);
    case Op::select:
      return PLANTED("select-by-arithmetic") && is_real(type) ? a * b + (1 - a) * c : a != 0 ? b : c;
    default:
      return 0;
  }
}

}  // namespace blind
