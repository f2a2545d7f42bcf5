// Products and quotients in normal form (R1, R4, R9).
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/bounds/arithmetic.hpp"
#include "reference/bounds/product_parts.hpp"

namespace etalon::reference::bounds {
namespace {

template <class R>
bool same(const Value<R>& a, const Value<R>& b) {
  if (a.exact() && b.exact()) return a.reference == b.reference;
  return a.node != no_node && a.node == b.node && a.coefficient == b.coefficient && a.local == 0 && b.local == 0;
}

/// A product that is zero, positive where the signs of all factors say so.
template <class R>
Value<R> zero_product(std::span<const Factor<R>> factors) {
  int sign = 1;
  for (const Factor<R>& f : factors) sign *= f.value.sign();
  Value<R> v = point<R>(0);
  v.positive_zero = sign > 0;
  return v;
}

/// Whether every multiple of 2^quantum of magnitude at most m has so many significant bits, or fewer.
bool takes_bits(double m, std::int32_t quantum, int bits) {
  return m < infinity && quantum > no_quantum / 2 && m <= std::ldexp(1.0, bits + std::min(quantum, zero_quantum));
}

/// The distance, relatively, from a number to one of so many bits.
double narrowing(int bits, spec::RoundingMode mode) {
  return std::ldexp(1.0, mode == spec::RoundingMode::nearest ? -bits : 1 - bits);
}

/// (1 + a)(1 + b) - 1.
double both(double a, double b) { return add_up(add_up(a, b), mul_up(a, b)); }

/// What the magnitudes and grids of ordinary factors say of their product.
struct Arithmetics {
  double magnitude = 1;      ///< of the product
  std::int32_t quantum = 0;  ///< of the product, not known beside a divisor
  std::int32_t finest = 0;   ///< grid of the finest partial product
  bool zero = false;
  bool edges = false;
};

template <class R>
Arithmetics arithmetics_of(std::span<const Factor<R>> factors) {
  Arithmetics a;
  for (const Factor<R>& f : factors) {
    a.edges = a.edges || f.value.node != no_node;
    a.zero = a.zero || (!f.divides && f.value.is_zero());
    a.magnitude = f.divides ? infinity : mul_up(a.magnitude, f.value.magnitude());
    const bool known = !f.divides && f.value.quantum > no_quantum / 2;
    a.quantum = known && a.quantum > no_quantum / 2 ? a.quantum + f.value.quantum : no_quantum;
    if (known && f.value.quantum < 0) a.finest += f.value.quantum;
  }
  return a;
}

}  // namespace

template <class R>
Value<R> Arithmetic<R>::wild() const {
  Value<R> v;
  v.reference = 0;
  v.lower = -infinity;
  v.upper = infinity;
  v.flags = admits_finite | admits_positive_infinity | admits_negative_infinity | admits_nan | interval_only;
  return v;
}

/// Relative error of an operand of a contraction that is rounded to fewer bits first.
template <class R>
double Arithmetic<R>::operand_error(const Value<R>& v) const {
  const int bits = contract_.product_operand_precision;
  if (bits == 0 || bits >= rounding_.precision || takes_bits(v.magnitude(), v.quantum, bits)) return 0;
  return narrowing(bits, contract_.product_operand_rounding);
}

/// The same of a whole product that is a term of a contraction: of its factors, and of partial products where they are
/// operands of what is multiplied last.
template <class R>
double Arithmetic<R>::operand_errors(const ProductParts<R>& parts) const {
  double errors = 0;
  for (const Factor<R>& f : parts.factors) errors = both(errors, operand_error(f.value));
  const int kept = contract_.product_operand_precision;
  const Arithmetics known = arithmetics_of(std::span<const Factor<R>>(parts.factors));
  if (kept != 0 && kept < rounding_.precision && !takes_bits(known.magnitude, known.quantum, kept)) {
    const double narrowed = narrowing(kept, contract_.product_operand_rounding);
    for (std::size_t partial = 2; partial < parts.factors.size(); ++partial) errors = both(errors, narrowed);
  }
  return errors;
}

/// By how many roundings more than one a quotient errs.
template <class R>
double Arithmetic<R>::division_error() const {
  return 2 * spec::function_bound(contract_, rounding_.dtype, spec::Primitive::div).k0 - 1;
}

/// Whether an operand of a contraction, a factor or the product of some, may be infinite once it is rounded to fewer bits.
template <class R>
bool Arithmetic<R>::may_leave_range(std::span<const Factor<R>> factors) const {
  const int bits = contract_.product_operand_precision;
  if (bits == 0 || bits >= rounding_.precision || contract_.product_operand_rounding == spec::RoundingMode::toward_zero) return false;
  const double overflow = std::ldexp(2.0 - std::ldexp(1.0, -bits), spec::format_of(rounding_.dtype).emax);
  Extents together;
  bool alone = false;
  for (const Factor<R>& f : factors) {
    alone = alone || (f.value.may(admits_finite) && f.value.magnitude() >= overflow);
    together.add(f);
  }
  return alone || (factors.size() > 2 && together.above >= overflow);
}

template <class R>
Value<R> Arithmetic<R>::plain_product(const Value<R>& a, const Value<R>& b, bool contracted) {
  if (a.is_zero() || b.is_zero()) {
    const Factor<R> both_factors[] = {{a, false}, {b, false}};
    return zero_product<R>(both_factors);
  }
  Value<R> v = point<R>(a.reference * b.reference);
  if (v.ordinary()) {
    v.enclose(a * b);
  } else {
    const double most = std::numeric_limits<double>::max();
    v.flags |= admits_finite;
    v.lower = v.reference > 0 ? most : -infinity;
    v.upper = v.reference > 0 ? infinity : -most;
  }
  const double m = v.magnitude();
  v.quantum = a.quantum + b.quantum;
  const bool held = rounding_.holds(m, v.quantum);
  double local = held ? 0 : rounding_.of_magnitude(m);
  if (contracted && contract_.product_operand_precision != 0) {
    local = add_up(local, mul_up(m, both(operand_error(a), operand_error(b))));
  }
  flush(local, v);
  if (local == 0) return v;
  // A wide type has room for the product of two numbers of the format.
  const bool roomy = held || 2 * rounding_.precision <= Wide<R>::precision;
  finish(v, roomy ? local : add_up(local, Wide<R>::rounding_of(v.reference)), add_up(rounding_.u, Wide<R>::unit));
  return v;
}

/// The product and its box; returns how far the reference may be from the exact product of the factors' references.
template <class R>
double Arithmetic<R>::product_box(std::span<const Factor<R>> factors, Value<R>& v) const {
  Interval box = just(1);
  R reference = 1;
  v.scale = 1;
  for (const Factor<R>& f : factors) {
    // A factor that cancelled counts with what it was added up from.
    const double size = std::fabs(static_cast<double>(f.value.reference));
    v.scale = f.divides ? v.scale / size : v.scale * std::max(size, f.value.scale);
    reference = f.divides ? reference / f.value.reference : reference * f.value.reference;
    box = f.divides ? box / f.value : box * f.value;
  }
  if (factors.size() == 2 && !factors[0].divides && !factors[1].divides && same(factors[0].value, factors[1].value)) {
    box.lower = std::max(box.lower, 0.0);
  }
  v.reference = reference;
  v.enclose(box);
  return mul_up(static_cast<double>(factors.size() + 1), Wide<R>::rounding_of(reference));
}

template <class R>
void Arithmetic<R>::product_edges(std::span<const Factor<R>> factors) {
  const std::size_t n = factors.size();
  boost::container::small_vector<Interval, 8> after(n + 1, just(1));
  for (std::size_t i = n; i-- > 0;) after[i] = box_of(factors[i]) * after[i + 1];
  Interval before = just(1);
  for (std::size_t i = 0; i < n; ++i) {
    const Factor<R>& f = factors[i];
    const Interval box = box_of(f);
    if (f.value.node != no_node) {
      Interval slope = before * after[i + 1];
      if (f.divides) slope = -(slope * square(box));
      tape_.edge({f.value.node, just(f.value.coefficient) * slope});
    }
    before = before * box;
  }
}

template <class R>
ProductParts<R> Arithmetic<R>::parts_of(std::span<const Factor<R>> all) const {
  ProductParts<R> parts;
  const double coarser = division_error();
  for (const Factor<R>& f : all) {
    if (f.divides) ++parts.all_divisors;
    if (!f.is_sign) ++parts.steps;
    parts.turned = parts.turned || f.is_turned;
    if (!f.value.is_power_of_two() || (f.divides && coarser > 0)) {
      parts.factors.push_back(f);
      if (f.divides) ++parts.divisors;
      continue;
    }
    parts.negative = parts.negative != (f.value.lower < 0);
    if (!f.divides && !f.is_sign) ++parts.powers;
    parts.exponent += f.divides ? -std::ilogb(f.value.lower) : std::ilogb(f.value.lower);
    parts.scaling.add(f);
  }
  const auto numerators = static_cast<std::ptrdiff_t>(parts.factors.size()) - parts.divisors;
  // Scaling by a power of two rounds nothing, but dividing it first does: x*1/b may be x*(1/b).
  const auto dividends = numerators + std::min(parts.powers, parts.divisors);
  parts.operations = static_cast<double>(dividends == 0 ? parts.divisors : dividends + parts.divisors - 1);
  parts.steps += (contract_.reciprocal_division ? parts.all_divisors : 0) - 1;
  parts.extents = parts.scaling;
  if (parts.operations == 0) return parts;
  if (numerators > 0 && contract_.reciprocal_division) parts.operations += static_cast<double>(parts.divisors);
  parts.operations = add_up(parts.operations, mul_up(coarser, static_cast<double>(parts.divisors)));
  return parts;
}

/// The largest magnitude that rounding may make zero: half of the smallest number, or flushing all subnormal ones.
template <class R>
double Arithmetic<R>::vanishing() const {
  return contract_.flush_results ? rounding_.tau : rounding_.half_eta;
}

/// Whether a partial product may underflow to zero, which is NaN where an infinity meets it. Gradual underflow loses up
/// to half of eta at each step, so that more than the exact product's half may vanish.
template <class R>
bool Arithmetic<R>::may_vanish(const ProductParts<R>& parts) const {
  if (parts.steps <= 1) return false;
  const double vanishes = contract_.flush_results ? 2 * rounding_.tau : static_cast<double>(parts.steps + 1) * rounding_.eta;
  return !(parts.extents.below > vanishes);
}

/// Whether the reciprocal of a partial result, which is what a division by a quotient computes on the way, may leave the
/// normal numbers: from an infinite or vanishing quotient nothing follows.
template <class R>
bool Arithmetic<R>::leaves_range_turned(const ProductParts<R>& parts) const {
  return parts.turned && (div_up(1, parts.extents.below) > rounding_.omega || div_down(1, parts.extents.above) < rounding_.tau);
}

/// Divisors that are multiplied first may underflow, which amplifies, or overflow, which leaves nothing.
template <class R>
Value<R> Arithmetic<R>::with_joined_divisors(Value<R> result, const ProductParts<R>& parts) {
  if (parts.all_divisors < 2) return result;
  const bool underflows = parts.extents.divisors_below < rounding_.tau;
  const auto joined = static_cast<double>(parts.all_divisors - 1);
  const double lost = underflows ? div_up(mul_up(joined, vanishing()), parts.extents.divisors_below) : 0;
  if (lost >= 0.25) return wild();
  const double relative = parts.extents.divisors_above > rounding_.omega ? 1 : div_up(lost, sub_down(1, lost));
  if (relative > 0) finish(result, add_up(mul_up(result.magnitude(), relative), result.local), 0);
  return result;
}

/// Puts the powers of two back, and with them what underflows or overflows on the way.
template <class R>
Value<R> Arithmetic<R>::rescaled(Value<R> result, const ProductParts<R>& parts, bool exact_on_the_way) {
  scale_exactly(result, parts.negative, parts.exponent);
  if (parts.steps > 0 && result.may(admits_finite)) {
    double dropped = 0;
    flush(dropped, result);
    if (dropped > 0) finish(result, add_up(dropped, result.local), 0);
  }
  const bool partial = parts.steps > 1 && result.may(admits_finite);
  if (partial) result = with_joined_divisors(result, parts);
  if (partial && parts.extents.below < rounding_.tau && !exact_on_the_way) {
    // A partial product in some association underflows, and the factors that follow amplify what it lost.
    const double lost = mul_up(static_cast<double>(parts.steps), mul_up(vanishing(), parts.extents.above));
    finish(result, add_up(add_up(rounding_.half_eta, lost), result.local), 0);
  } else if (parts.exponent < 0 && result.magnitude() < rounding_.tau && result.quantum < rounding_.eta_exponent) {
    finish(result, add_up(rounding_.half_eta, result.local), 0);
  } else if (parts.exponent > 0 && result.magnitude() > rounding_.omega) {
    finish(result, result.local, 0);
  }
  return result;
}

/// At most one factor besides powers of two: nothing rounds.
template <class R>
Value<R> Arithmetic<R>::scaled_factor(ProductParts<R>& parts, bool contracted) {
  Value<R> only = parts.factors.empty() ? point<R>(1) : parts.factors[0].value;
  const bool ordinary = only.ordinary();
  if (!parts.factors.empty() && ordinary && !(parts.factors[0].divides && only.holds_zero())) {
    parts.extents.add(parts.factors[0]);
  }
  // With powers of two alone, too, a partial product in some association may overflow.
  if (parts.steps > 1 && ordinary && parts.extents.above > rounding_.omega) return wild();
  if (ordinary && leaves_range_turned(parts)) return wild();
  if (!ordinary && may_vanish(parts)) only.flags |= admits_nan;
  const double narrowed = contracted && only.may(admits_finite) ? mul_up(only.magnitude(), operand_error(only)) : 0;
  if (narrowed > 0) {
    const double local = only.local;
    finish(only, narrowed, 0);
    only.local = only.may(interval_only) ? 0 : add_up(narrowed, local);
  }
  return rescaled(only, parts, false);
}

/// A quotient of two points that is a number of the format.
template <class R>
bool is_exact_quotient(const ProductParts<R>& parts, const Value<R>& v, const Rounding& rounding) {
  if (parts.operations != 1 || parts.divisors != 1 || parts.factors.size() != 2 || !parts.factors[1].divides) return false;
  const Value<R>& dividend = parts.factors[0].value;
  const Value<R>& divisor = parts.factors[1].value;
  return dividend.exact() && divisor.exact() && rounding.holds(v.magnitude(), lowest_bit(v.reference)) &&
         Wide<R>::is_product(v.reference, divisor.reference, dividend.reference);
}

/// Of finite factors and divisors other than zero.
template <class R>
Value<R> Arithmetic<R>::ordinary_product(ProductParts<R>& parts, bool contracted) {
  for (Factor<R>& f : parts.factors) {
    share(f.value);
    parts.extents.add(f);
  }
  const double inherited = contracted ? operand_errors(parts) : 0;
  const Arithmetics known = arithmetics_of(std::span<const Factor<R>>(parts.factors));
  if (leaves_range_turned(parts)) return wild();
  if (parts.steps > 1 && parts.extents.above > rounding_.omega) return overflowing(parts, contracted);
  if (known.zero) return rescaled(zero_product<R>(parts.factors), parts, true);
  Value<R> v;
  double own = product_box(parts.factors, v);
  v.quantum = known.quantum;
  const double m = v.magnitude();
  const bool exact = !parts.turned && takes_bits(known.magnitude, known.quantum, rounding_.precision) && known.finest >= rounding_.eta_exponent;
  if (exact && !known.edges) own = 0;
  double relative = 0;
  double local = 0;
  if (is_exact_quotient(parts, v, rounding_)) {
    v.quantum = lowest_bit(v.reference);
    own = 0;
  } else if (!exact) {
    relative = rounding_.of_product(parts.operations);
    local = parts.operations == 1 && m < infinity ? rounding_.of_magnitude(m) : mul_up(m, relative);
    relative = add_up(relative, mul_up(static_cast<double>(parts.factors.size() + 2), Wide<R>::unit));
  }
  local = add_up(local, mul_up(m, inherited));
  flush(local, v);
  local = add_up(local, own);
  if (local > 0) finish(v, local, parts.extents.below < rounding_.tau || inherited > 0 ? 0 : relative);
  if (v.scale == 0) v.scale = std::fabs(static_cast<double>(v.reference));
  if (!v.may(interval_only) && known.edges) {
    v.node = tape_.open(v.local);
    v.local = 0;
    product_edges(parts.factors);
  }
  return rescaled(v, parts, exact && known.finest + std::ilogb(parts.scaling.below) >= rounding_.eta_exponent);
}

template <class R>
Value<R> Arithmetic<R>::product(std::span<const Factor<R>> all, bool contracted, double roundings) {
  if (contracted && may_leave_range(all)) return wild();
  if (all.size() == 2 && !all[0].divides && !all[1].divides && all[0].value.exact() && all[1].value.exact() &&
      !all[0].value.is_power_of_two() && !all[1].value.is_power_of_two()) {
    return plain_product(all[0].value, all[1].value, contracted);
  }
  ProductParts<R> parts = parts_of(all);
  // A quotient that divides again is rounded twice, though nothing is left to divide.
  if (parts.turned) parts.operations = std::max(parts.operations, roundings);
  if (parts.operations == 0) return scaled_factor(parts, contracted);
  const bool special = std::any_of(parts.factors.begin(), parts.factors.end(), [](const Factor<R>& f) {
    return !f.value.ordinary() || (f.divides && f.value.holds_zero());
  });
  return special ? special_product(parts, contracted) : ordinary_product(parts, contracted);
}

#define ETALON_INSTANTIATE(R)                                                             \
  template Value<R> Arithmetic<R>::wild() const;                                          \
  template bool Arithmetic<R>::may_vanish(const ProductParts<R>&) const;                  \
  template bool Arithmetic<R>::leaves_range_turned(const ProductParts<R>&) const;         \
  template double Arithmetic<R>::operand_errors(const ProductParts<R>&) const;            \
  template Value<R> Arithmetic<R>::rescaled(Value<R>, const ProductParts<R>&, bool);      \
  template Value<R> Arithmetic<R>::product(std::span<const Factor<R>>, bool, double);
ETALON_INSTANTIATE(double)
ETALON_INSTANTIATE(Quad)
#undef ETALON_INSTANTIATE

}  // namespace etalon::reference::bounds
