#include "compiled/ir/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "compiled/ir/plan.hpp"
#include "spec/half.hpp"

namespace etalon::compiled::loops {

using spec::Form;

namespace {

bool is_exact_f32(const Expr& e) {
  if (e.form() != Form::number || !e->number.rest.empty()) return false;
  const double wide = nearest_f64(e->number);
  const bool exact = e->number.is_binary || (e->number.exponent >= 0 && std::abs(wide) < 0x1p53);
  return static_cast<double>(static_cast<float>(wide)) == wide && (exact || wide * 4 == std::floor(wide * 4));
}

}  // namespace

double nearest_f64(const spec::Number& n) {
  if (n.is_binary) return n.binary;
  return std::strtod(spec::exponential_text(n).c_str(), nullptr);
}

float nearest_f32(const spec::Number& n) {
  if (n.is_binary) return static_cast<float>(n.binary);
  return std::strtof(spec::exponential_text(n).c_str(), nullptr);
}

bool Arithmetic::is_narrow(const Expr& e) const { return real_ == Type::f32 && is_single(system_, e, narrow_); }

Type Arithmetic::type_of(const Expr& e) const {
  switch (e.kind()) {
    case Kind::integer: return Type::i64;
    case Kind::boolean: return Type::boolean;
    case Kind::real: break;
  }
  return is_narrow(e) ? Type::f32 : Type::f64;
}

Type Arithmetic::comparison_type(const Expr& a, const Expr& b) const {
  if (a.kind() != Kind::real) return type_of(a);
  const bool narrow_a = is_narrow(a) || is_exact_f32(a);
  const bool narrow_b = is_narrow(b) || is_exact_f32(b);
  return narrow_a && narrow_b && real_ == Type::f32 ? Type::f32 : Type::f64;
}

Type Arithmetic::stored_type(const Expr& value, DType dtype) const {
  if (value.kind() != Kind::real || spec::is_half(dtype)) return type_of(value);
  return dtype == DType::f32 ? Type::f32 : Type::f64;
}

bool Arithmetic::may_leave_doubles(const Expr& e, const Extents& extents) const {
  constexpr std::int64_t end = std::int64_t{1} << 53;
  if (e.kind() != Kind::integer || e.is(spec::Primitive::philox)) return false;
  if (const auto range = range_of(e, extents)) return range->first < -end || range->second > end;
  if (e.form() == Form::read) return system_[e->tensor].dtype == DType::i64;
  const bool larger = e.is(spec::Primitive::mul) || e.is(spec::Primitive::add) || e.is(spec::Primitive::sub);
  if (e.form() == Form::reduce || larger || e.is(spec::Primitive::to_integer)) return true;
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return may_leave_doubles(a, extents); });
}

bool Arithmetic::keeps_odd_bit(const Expr& integer, const Extents& extents) const {
  return real_ == Type::f32 && may_leave_doubles(integer, extents);
}

bool in_range(const spec::System& system, const Expr& read, const Extents& extents) {
  const Dims& dims = system[read->tensor].dims;
  for (std::size_t axis = 0; axis < read->args.size(); ++axis) {
    const auto range = range_of(read->args[axis], extents);
    if (!range || range->first < 0 || range->second >= dims[axis]) return false;
  }
  return true;
}

}  // namespace etalon::compiled::loops
