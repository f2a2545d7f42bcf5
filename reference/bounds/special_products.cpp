// Products with infinite or NaN factors, or divisors that may be zero (R9).
#include <algorithm>
#include <optional>

#include "reference/bounds/arithmetic.hpp"
#include "reference/bounds/product_parts.hpp"

namespace etalon::reference::bounds {

/// The classes that a product with infinite or NaN factors, or zero divisors, may have.
template <class R>
void Arithmetic<R>::product_specials(std::span<const Factor<R>> factors, Value<R>& v) const {
  bool may_infinite = false;
  bool may_zero = false;
  bool must_zero = false;
  bool finite = true;
  bool vanishes = false;
  bool nan = false;
  bool must_nan = false;
  bool left_out = false;  // who multiplies by the constant 0, a weight decay for one, need not do so
  bool open = false;      // a factor is no constant: what constants alone give is a constant too
  int sign = 1;
  for (const Factor<R>& f : factors) {
    const bool fin = f.value.may(admits_finite);
    const bool inf = f.value.may(admits_positive_infinity | admits_negative_infinity);
    const bool zero = fin && f.value.holds_zero();
    nan = nan || f.value.may(admits_nan);
    must_nan = must_nan || (!fin && !inf);
    may_infinite = may_infinite || (f.divides ? zero : inf);
    may_zero = may_zero || (f.divides ? inf : zero);
    must_zero = must_zero || (!f.divides && f.value.is_zero());
    left_out = left_out || (f.is_constant && !f.divides && f.value.is_zero());
    open = open || !f.is_constant;
    vanishes = vanishes || (f.divides && inf);
    finite = finite && (f.divides ? (fin && !f.value.is_zero()) || inf : fin);
    sign *= f.value.sign();
  }
  v.flags = interval_only;
  if (nan || (may_infinite && may_zero)) v.flags |= admits_nan;
  if (left_out && open && (nan || may_infinite)) {  // 0 or NaN
    v.flags |= admits_finite;
    v.lower = v.upper = 0;
    return;
  }
  if (must_nan) return;
  if (finite) v.flags |= admits_finite;
  if (may_infinite && !must_zero && sign >= 0) v.flags |= admits_positive_infinity;
  if (may_infinite && !must_zero && sign <= 0) v.flags |= admits_negative_infinity;
  if (!finite) return;
  Interval box = just(1);
  for (const Factor<R>& f : factors) {
    const bool fin = f.value.may(admits_finite);
    if (!fin)
      box = just(0);
    else if (f.divides && f.value.holds_zero())
      box = {-infinity, infinity};
    else
      box = box * box_of(f);
  }
  v.lower = vanishes ? std::min(box.lower, 0.0) : box.lower;
  v.upper = vanishes ? std::max(box.upper, 0.0) : box.upper;
}

/// Where a divisor is zero and no partial result of the other factors vanishes, overflows below the line or is NaN, only
/// infinities are left, in any association; their sign is that of all factors, where each has one.
template <class R>
std::optional<Value<R>> Arithmetic<R>::at_pole(const ProductParts<R>& parts) const {
  const auto infinite = static_cast<std::uint8_t>(admits_positive_infinity | admits_negative_infinity);
  Extents others = parts.scaling;
  bool pole = false;
  int sign = parts.negative ? -1 : 1;
  for (const Factor<R>& f : parts.factors) {
    sign *= f.value.sign();
    if (f.divides && f.value.is_zero()) {
      pole = true;
      continue;
    }
    const bool may_be_zero = f.value.may(admits_finite) && f.value.holds_zero();
    if (f.value.may(admits_nan) || may_be_zero || (f.divides && f.value.may(infinite))) return std::nullopt;
    others.add(f);
  }
  if (!pole || (parts.steps > 1 && others.below < 4 * rounding_.tau)) return std::nullopt;
  Value<R> v = point<R>(sign < 0 ? -infinity : infinity);
  if (sign == 0) v.flags |= infinite;
  return v;
}

/// Where a partial product may overflow. If all factors have signs, none is zero and no partial product underflows, then infinities
/// of one sign are all that comes beside the product: an infinity meets no zero. Otherwise anything does.
template <class R>
Value<R> Arithmetic<R>::overflowing(const ProductParts<R>& parts, bool contracted) {
  bool told = parts.all_divisors == 0 && !parts.turned && parts.extents.below >= 4 * rounding_.tau && !(contracted && operand_errors(parts) > 0);
  int sign = 1;
  R reference = 1;
  for (const Factor<R>& f : parts.factors) {
    told = told && !f.value.may(admits_nan) && !(f.value.may(admits_finite) && f.value.holds_zero());
    sign *= f.value.sign();
    reference *= f.value.reference;
  }
  if (!told || sign == 0) return wild();
  Value<R> v;
  product_specials(parts.factors, v);
  v.reference = reference;
  v.flags |= interval_only | (sign > 0 ? admits_positive_infinity : admits_negative_infinity);
  const double relative = rounding_.of_product(parts.operations);
  if (v.may(admits_finite)) finish(v, mul_up(relative, v.magnitude()), relative);
  return rescaled(v, parts, false);
}

/// With infinite or NaN factors, or divisors that may be zero.
template <class R>
Value<R> Arithmetic<R>::special_product(ProductParts<R>& parts, bool contracted) {
  if (const auto pole = at_pole(parts)) return *pole;
  for (const Factor<R>& f : parts.factors) parts.extents.add(f);
  const Extents& reach = parts.extents;
  const bool several = parts.steps > 1;
  if (several && !(std::max(reach.above, reach.divisors_above) <= rounding_.omega)) return overflowing(parts, contracted);
  if (leaves_range_turned(parts)) return wild();
  if (several && parts.all_divisors > 1 && !(reach.divisors_below >= rounding_.tau)) return wild();
  Value<R> v;
  product_specials(parts.factors, v);
  if (const auto sole = v.only()) v.reference = *sole;
  if (may_vanish(parts)) v.flags |= admits_nan;
  // What underflows on the way is amplified by the factors that follow.
  const double lost = several ? mul_up(parts.operations, reach.above) : 1;
  const double inherited = contracted ? operand_errors(parts) : 0;
  const double relative = rounding_.of_product(parts.operations);
  finish(v, add_up(mul_up(add_up(relative, inherited), v.magnitude()), mul_up(rounding_.eta, lost)),
         several || inherited > 0 ? 0 : relative);
  return rescaled(v, parts, false);
}

template Value<double> Arithmetic<double>::overflowing(const ProductParts<double>&, bool);
template Value<Quad> Arithmetic<Quad>::overflowing(const ProductParts<Quad>&, bool);
template Value<double> Arithmetic<double>::special_product(ProductParts<double>&, bool);
template Value<Quad> Arithmetic<Quad>::special_product(ProductParts<Quad>&, bool);

}  // namespace etalon::reference::bounds
