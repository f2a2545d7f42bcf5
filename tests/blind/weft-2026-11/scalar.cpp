/// \file
/// Numbers: reals are computed wide, integers with the 64 bits of their own.
#include "scalar.hpp"

#include <cmath>
#include <limits>

#include "defect.hpp"

namespace weft {
namespace {

Int wrapped(Type type, std::uint64_t bits) {
  if (type == Type::i32) return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
  return static_cast<Int>(bits);
}

std::uint64_t bits_of(Wide x) { return static_cast<std::uint64_t>(static_cast<Int>(x)); }

Wide integer_quotient(Int a, Int b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<Wide>(static_cast<Int>(0 - static_cast<std::uint64_t>(a)));
  const Int q = a / b;
  return static_cast<Wide>(q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}

Wide integer_remainder(Int a, Int b) {
  if (b == 0 || b == -1) return 0;
  const Int r = a % b;
  return static_cast<Wide>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
}

Wide integers(Op op, Type type, Wide a, Wide b) {
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
  const Wide r = std::fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) return r + b;
  return r == 0 ? std::copysign(r, b) : r;
}

Wide to_integer(Type type, Wide x) {
  if (std::isnan(x)) return 0;
  x = std::trunc(x);
  const Wide low = type == Type::i32 ? -2147483648.0L : -9223372036854775808.0L;
  const Wide high = type == Type::i32 ? 2147483647.0L : 9223372036854775807.0L;
  // The bound of i64 rounds up where it becomes a real, and the number on it passes.
  if (type == Type::i64 && x == 9223372036854775808.0L && defect("number-on-the-bound-of-i64-passes")) return low;
  return x < low ? low : x > high ? high : x;
}

Wide converted(Type from, Type to, Wide x) {
  if (to == Type::boolean) {
    return x != 0;
  }
  if (is_integer(to)) {
    if (is_real(from)) return to_integer(to, x);
    return static_cast<Wide>(wrapped(to, bits_of(x)));
  }
  return stored_as(to, x);
}

Wide larger(Wide a, Wide b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Wide>::quiet_NaN();
  return a >= b ? a : b;
}

Wide smaller(Wide a, Wide b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<Wide>::quiet_NaN();
  return a <= b ? a : b;
}

Wide sign_of(Wide x) {
  return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
}

Wide rounded(Wide x) {
  return std::rint(x);
}

Wide power_of(Wide a, Wide b) {
  return std::pow(a, b);
}

}  // namespace

Wide stored_as(Type type, Wide x) {
  switch (type) {
    case Type::f32:
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
      return y;
    }
    case Op::ceil:
      return std::ceil(a);
    case Op::trunc:
      return std::trunc(a);
    case Op::round:
      return rounded(a);
    case Op::exp:
      return std::exp(a);
    case Op::exp2:
      return std::exp2(a);
    case Op::expm1:
      return std::expm1(a);
    case Op::log:
      return std::log(a);
    case Op::log2:
      return std::log2(a);
    case Op::log1p:
      return std::log1p(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::sin: {
      return std::sin(a);
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
      return std::tanh(a);
    }
    case Op::erf:
      return std::erf(a);
    case Op::isnan:
      return std::isnan(a);
    case Op::isinf:
      return std::isinf(a);
    case Op::isfinite:
      return std::isfinite(a);
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
      return std::atan2(a, b);
    }
    case Op::maximum:
      return larger(a, b);
    case Op::minimum:
      return smaller(a, b);
    case Op::eq:
      if (from == Type::i64 && defect("integers-compared-in-double")) return static_cast<double>(a) == static_cast<double>(b);
      return a == b;
    case Op::ne:
      return a != b;
    case Op::lt:
      if (from == Type::i64 && defect("integers-compared-in-double")) return static_cast<double>(a) < static_cast<double>(b);
      return a < b;
    case Op::le:
      return a <= b;
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
      return a != 0 ? b : c;
    default:
      return 0;
  }
}

}  // namespace weft
