#include "conformance/interchange/stablehlo/primitives.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "spec/error.hpp"

namespace etalon::conformance::stablehlo {
namespace {

using spec::Primitive;

/// The name of the instruction that is the primitive, of reals and of integers and truth values; or empty.
[[nodiscard]] std::string_view instruction(Primitive p) {
  switch (p) {
    case Primitive::add:
      return "add";
    case Primitive::sub:
      return "subtract";
    case Primitive::mul:
      return "multiply";
    case Primitive::neg:
      return "negate";
    case Primitive::maximum:
      return "maximum";
    case Primitive::minimum:
      return "minimum";
    case Primitive::div:
      return "divide";
    case Primitive::pow:
      return "power";
    case Primitive::atan2:
      return "atan2";
    case Primitive::exp:
      return "exponential";
    case Primitive::log:
      return "log";
    case Primitive::sqrt:
      return "sqrt";
    case Primitive::sin:
      return "sine";
    case Primitive::cos:
      return "cosine";
    case Primitive::tan:
      return "tan";
    case Primitive::sinh:
      return "chlo.sinh";
    case Primitive::cosh:
      return "chlo.cosh";
    case Primitive::tanh:
      return "tanh";
    case Primitive::erf:
      return "chlo.erf";
    case Primitive::expm1:
      return "exponential_minus_one";
    case Primitive::log1p:
      return "log_plus_one";
    case Primitive::abs:
      return "abs";
    case Primitive::sign:
      return "sign";
    case Primitive::floor:
      return "floor";
    case Primitive::ceil:
      return "ceil";
    case Primitive::round:
      return "round_nearest_even";
    case Primitive::logical_and:
      return "and";
    case Primitive::logical_or:
      return "or";
    case Primitive::logical_not:
      return "not";
    default:
      return "";
  }
}

[[nodiscard]] std::string_view direction(Primitive p) {
  switch (p) {
    case Primitive::eq:
      return "EQ";
    case Primitive::ne:
      return "NE";
    case Primitive::lt:
      return "LT";
    case Primitive::le:
      return "LE";
    case Primitive::gt:
      return "GT";
    case Primitive::ge:
      return "GE";
    default:
      return "";
  }
}

[[nodiscard]] Tensor real_like(Instructions& out, double value, const Tensor& x) {
  return like(out, out.real(value, x.type.dtype), x);
}
[[nodiscard]] Tensor integer_like(Instructions& out, std::int64_t value, const Tensor& x) {
  return like(out, out.integer(value, x.type.dtype), x);
}
[[nodiscard]] Tensor zero_like(Instructions& out, const Tensor& x) {
  return kind_of(x.type.dtype) == Kind::real ? real_like(out, 0, x) : integer_like(out, 0, x);
}

/// Where a remainder has another sign than the divisor, and is not 0.
[[nodiscard]] Tensor is_beside(Instructions& out, const Tensor& remainder, const Tensor& divisor) {
  const Tensor zero = zero_like(out, divisor);
  const Tensor differ = out.compare("NE", out.compare("LT", remainder, zero), out.compare("LT", divisor, zero));
  return out.binary("and", differ, out.compare("NE", remainder, zero));
}

/// A divisor by which instructions may divide: 1 stands for 0, and for -1, where a quotient may leave 64 bits.
struct SafeDivisor {
  Tensor is_zero, is_minus_one, divisor;
};
[[nodiscard]] SafeDivisor safe(Instructions& out, const Tensor& b) {
  SafeDivisor made{out.compare("EQ", b, integer_like(out, 0, b)), out.compare("EQ", b, integer_like(out, -1, b)), {}};
  made.divisor = out.select(out.binary("or", made.is_zero, made.is_minus_one), integer_like(out, 1, b), b);
  return made;
}

[[nodiscard]] Tensor floor_quotient(Instructions& out, const Tensor& a, const Tensor& b) {
  if (kind_of(a.type.dtype) == Kind::real) return out.unary("floor", out.binary("divide", a, b));
  const SafeDivisor by = safe(out, b);
  const Tensor quotient = out.binary("divide", a, by.divisor), remainder = out.binary("remainder", a, by.divisor);
  const Tensor below = out.select(is_beside(out, remainder, by.divisor),
                                  out.binary("subtract", quotient, integer_like(out, 1, a)), quotient);
  return out.select(by.is_zero, integer_like(out, 0, a), out.select(by.is_minus_one, out.unary("negate", a), below));
}

[[nodiscard]] Tensor remainder(Instructions& out, const Tensor& a, const Tensor& b) {
  if (kind_of(a.type.dtype) == Kind::real) {
    const Tensor rest = out.binary("remainder", a, b);
    return out.select(is_beside(out, rest, b), out.binary("add", rest, b), rest);
  }
  const SafeDivisor by = safe(out, b);
  const Tensor rest = out.binary("remainder", a, by.divisor);
  const Tensor within = out.select(is_beside(out, rest, by.divisor), out.binary("add", rest, by.divisor), rest);
  return out.select(out.binary("or", by.is_zero, by.is_minus_one), integer_like(out, 0, a), within);
}

/// Cut off toward 0 and kept within the type; NaN is 0.
[[nodiscard]] Tensor as_integer(Instructions& out, const Tensor& x, DType dtype) {
  const bool is_long = dtype == DType::i64;
  const double end = is_long ? 0x1p63 : 0x1p31;
  const std::int64_t most =
      is_long ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int32_t>::max();
  const Tensor is_nan = out.compare("NE", x, x), is_above = out.compare("GE", x, real_like(out, end, x)),
               is_below = out.compare("LT", x, real_like(out, -end, x));
  const Tensor none = out.binary("or", is_nan, out.binary("or", is_above, is_below));
  const Tensor inside = out.convert(out.select(none, real_like(out, 0, x), x), dtype);
  const Tensor bounded = out.select(is_above, integer_like(out, most, inside),
                                    out.select(is_below, integer_like(out, -most - 1, inside), inside));
  return out.select(is_nan, integer_like(out, 0, inside), bounded);
}

}  // namespace

Tensor like(Instructions& out, const Tensor& scalar, const Tensor& tensor) {
  return out.filled(scalar, tensor.type.extents);
}

Tensor primitive(Instructions& out, Primitive p, std::span<const Tensor> operands, DType real) {
  if (p == Primitive::pi)
    return out.real(real == DType::f64 ? M_PI : static_cast<double>(static_cast<float>(M_PI)), real);
  const Tensor& x = operands[0];
  const bool is_real = kind_of(x.type.dtype) == Kind::real;
  if (!direction(p).empty()) return out.compare(direction(p), x, operands[1]);
  switch (p) {
    case Primitive::floor:
    case Primitive::ceil:
    case Primitive::trunc:
    case Primitive::round:
      if (!is_real) return x;
      if (p != Primitive::trunc) break;
      return out.select(out.compare("LT", x, real_like(out, 0, x)), out.unary("ceil", x), out.unary("floor", x));
    case Primitive::exp2:
      return out.binary("power", real_like(out, 2, x), x);
    case Primitive::log2:
      return out.binary("divide", out.unary("log", x), out.unary("log", real_like(out, 2, x)));
    case Primitive::floor_div:
      return floor_quotient(out, x, operands[1]);
    case Primitive::modulo:
      return remainder(out, x, operands[1]);
    case Primitive::is_nan:
      return out.compare("NE", x, x);
    case Primitive::is_inf:
      return out.compare("EQ", out.unary("abs", x), real_like(out, std::numeric_limits<double>::infinity(), x));
    case Primitive::is_finite:
      return out.is_finite(x);
    case Primitive::to_real:
      return out.convert(x, real);
    case Primitive::to_integer:
      return is_real ? as_integer(out, x, DType::i64) : out.convert(x, DType::i64);
    default:
      break;
  }
  if (instruction(p).empty()) throw Unsupported(fmt::format("{} has no instructions of StableHLO", info(p).name));
  return out.elementwise(instruction(p), operands);
}

Tensor stored(Instructions& out, const Tensor& value, DType dtype) {
  const Kind kind = kind_of(value.type.dtype);
  if (value.type.dtype == dtype) return value;
  if (dtype == DType::boolean) return out.compare("NE", value, zero_like(out, value));
  if (kind == Kind::real && kind_of(dtype) == Kind::integer) return as_integer(out, value, dtype);
  return out.convert(value, dtype);
}

}  // namespace etalon::conformance::stablehlo
