// Products and quotients in normal form (R1, R4, R9).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/bounds/arithmetic.hpp"
#include "reference/bounds/product_parts.hpp"

namespace etalon::reference::bounds {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Box {
  double lower = 1;
  double upper = 1;
};

double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Box operator*(const Box& a, const Box& b) {
  const std::array c{times(a.lower, b.lower), times(a.lower, b.upper), times(a.upper, b.lower),
                     times(a.upper, b.upper)};
  return {*std::min_element(c.begin(), c.end()), *std::max_element(c.begin(), c.end())};
}

/// The reciprocals of a box that does not hold zero.
Box inverse(const Box& a) { return {1 / a.upper, 1 / a.lower}; }

template <class R>
Box box_of(const Factor<R>& f) {
  const Box b{f.value.lower, f.value.upper};
  return f.divides ? inverse(b) : b;
}

template <class R>
bool holds_zero(const Value<R>& v) {
  return v.lower <= 0 && v.upper >= 0;
}

template <class R>
bool is_power_of_two(const Value<R>& v) {
  return v.exact() && v.lower == v.upper && v.lower != 0 && power_below(v.lower) == std::fabs(v.lower);
}

template <class R>
bool same(const Value<R>& a, const Value<R>& b) {
  if (a.exact() && b.exact()) return a.reference == b.reference;
  return a.node != no_node && a.node == b.node && a.coefficient == b.coefficient && a.local == 0 && b.local == 0;
}

/// Bits that the significand of any value of v takes, or more than any format has when that is not known.
template <class R>
double significant_bits(const Value<R>& v) {
  return v.quantum <= no_quantum / 2 ? infinity : std::log2(v.magnitude()) - v.quantum;
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
  if (bits == 0 || bits >= rounding_.precision || significant_bits(v) <= bits) return 0;
  return std::ldexp(1.0, contract_.product_operand_rounding == spec::RoundingMode::nearest ? -bits : 1 - bits);
}

/// The same of a whole product that is a term of a contraction: of its factors, and of partial products where they are
/// operands of what is multiplied last.
template <class R>
double Arithmetic<R>::operand_errors(const ProductParts<R>& parts) const {
  double errors = 1;
  double bits = 0;
  for (const Factor<R>& f : parts.factors) {
    errors *= 1 + operand_error(f.value);
    bits += f.divides ? infinity : significant_bits(f.value);
  }
  const int kept = contract_.product_operand_precision;
  if (kept != 0 && kept < rounding_.precision && bits > kept) {
    const double narrowed = std::ldexp(1.0, contract_.product_operand_rounding == spec::RoundingMode::nearest ? -kept : 1 - kept);
    for (std::size_t partial = 2; partial < parts.factors.size(); ++partial) errors *= 1 + narrowed;
  }
  return errors - 1;
}

/// By how many roundings more than one a quotient errs.
template <class R>
double Arithmetic<R>::division_error() const {
  return 2 * spec::function_bound(contract_, rounding_.dtype, spec::Primitive::div).k0 - 1;
}

template <class R>
Value<R> Arithmetic<R>::plain_product(const Value<R>& a, const Value<R>& b, bool contracted) {
  Value<R> v = point<R>(a.reference * b.reference);
  if (!v.ordinary()) {
    const double most = std::numeric_limits<double>::max();
    v.flags |= admits_finite;
    v.lower = v.reference > 0 ? most : -infinity;
    v.upper = v.reference > 0 ? infinity : -most;
  }
  const double m = v.magnitude();
  v.quantum = a.quantum + b.quantum;
  double local = rounding_.holds(m, v.quantum) ? 0 : rounding_.of_magnitude(m);
  if (contracted && contract_.product_operand_precision != 0) {
    local += m * ((1 + operand_error(a)) * (1 + operand_error(b)) - 1);
  }
  flush(local, v.lower, v.upper);
  if (local == 0) return v;
  finish(v, local, 2 * rounding_.u);
  return v;
}

template <class R>
void Arithmetic<R>::product_box(std::span<const Factor<R>> factors, Value<R>& v) const {
  Box box;
  R reference = 1;
  v.scale = 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Factor<R>& f = factors[i];
    // A factor that cancelled counts with what it was added up from.
    const double size = std::fabs(static_cast<double>(f.value.reference));
    v.scale = f.divides ? v.scale / size : v.scale * std::max(size, f.value.scale);
    reference = f.divides ? reference / f.value.reference : reference * f.value.reference;
    box = box * box_of(f);
  }
  if (factors.size() == 2 && !factors[0].divides && !factors[1].divides && same(factors[0].value, factors[1].value)) {
    box.lower = std::max(box.lower, 0.0);
  }
  const bool points = std::all_of(factors.begin(), factors.end(), [](const auto& f) { return f.value.exact(); });
  v.reference = reference;
  // An end that overflowed a double is beyond the largest one, and no more is known.
  constexpr double most = std::numeric_limits<double>::max();
  box.lower = std::min(box.lower, most);
  box.upper = std::max(box.upper, -most);
  v.lower = points ? Wide<R>::below(reference) : box.lower - 0x1p-48 * std::fabs(box.lower);
  v.upper = points ? Wide<R>::above(reference) : box.upper + 0x1p-48 * std::fabs(box.upper);
}

template <class R>
void Arithmetic<R>::product_edges(std::span<const Factor<R>> factors) {
  const std::size_t n = factors.size();
  std::vector<Box> after(n + 1);
  for (std::size_t i = n; i-- > 0;) after[i] = box_of(factors[i]) * after[i + 1];
  Box before;
  for (std::size_t i = 0; i < n; ++i) {
    const Factor<R>& f = factors[i];
    Box slope = before * after[i + 1];
    if (f.divides) {
      const Box inv = box_of(f);
      const Box negative{-1, -1};
      slope = slope * inv * inv * negative;
    }
    if (f.value.node != no_node) {
      slope = slope * Box{f.value.coefficient, f.value.coefficient};
      tape_.edge({f.value.node, slope.lower, slope.upper});
    }
    before = before * box_of(f);
  }
}

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
  int sign = 1;
  for (const Factor<R>& f : factors) {
    const bool fin = f.value.may(admits_finite);
    const bool inf = f.value.may(admits_positive_infinity | admits_negative_infinity);
    const bool zero = fin && holds_zero(f.value);
    nan = nan || f.value.may(admits_nan);
    must_nan = must_nan || (!fin && !inf);
    may_infinite = may_infinite || (f.divides ? zero : inf);
    may_zero = may_zero || (f.divides ? inf : zero);
    must_zero = must_zero || (!f.divides && f.value.is_zero());
    vanishes = vanishes || (f.divides && inf);
    finite = finite && (f.divides ? (fin && !f.value.is_zero()) || inf : fin);
    const bool positive = (!fin || f.value.lower > 0) && !f.value.may(admits_negative_infinity);
    const bool negative = (!fin || f.value.upper < 0) && !f.value.may(admits_positive_infinity);
    sign = positive ? sign : negative ? -sign : 0;
  }
  v.flags = interval_only;
  if (nan || (may_infinite && may_zero)) v.flags |= admits_nan;
  if (must_nan) return;
  if (finite) v.flags |= admits_finite;
  if (may_infinite && !must_zero && sign >= 0) v.flags |= admits_positive_infinity;
  if (may_infinite && !must_zero && sign <= 0) v.flags |= admits_negative_infinity;
  if (!finite) return;
  Box box;
  for (const Factor<R>& f : factors) {
    const bool fin = f.value.may(admits_finite);
    if (!fin)
      box = box * Box{0, 0};
    else if (f.divides && holds_zero(f.value))
      box = Box{-infinity, infinity};
    else
      box = box * box_of(f);
  }
  v.lower = vanishes ? std::min(box.lower, 0.0) : box.lower;
  v.upper = vanishes ? std::max(box.upper, 0.0) : box.upper;
}

template <class R>
ProductParts<R> Arithmetic<R>::parts_of(std::span<const Factor<R>> all) const {
  ProductParts<R> parts;
  const double coarser = division_error();
  for (const Factor<R>& f : all) {
    if (f.divides) ++parts.all_divisors;
    if (!f.is_sign) ++parts.steps;
    if (!is_power_of_two(f.value) || (f.divides && coarser > 0)) {
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
  parts.operations += coarser * static_cast<double>(parts.divisors);
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

/// Divisors that are multiplied first may underflow, which amplifies, or overflow, which leaves nothing.
template <class R>
Value<R> Arithmetic<R>::with_joined_divisors(Value<R> result, const ProductParts<R>& parts) {
  if (parts.all_divisors < 2) return result;
  const bool underflows = parts.extents.divisors_below < rounding_.tau;
  const auto joined = static_cast<double>(parts.all_divisors - 1);
  const double lost = underflows ? joined * vanishing() / parts.extents.divisors_below : 0;
  if (lost >= 0.25) return wild();
  const double relative = parts.extents.divisors_above > rounding_.omega ? 1 : lost / (1 - lost);
  if (relative > 0) finish(result, result.magnitude() * relative + result.local, 0);
  return result;
}

/// Puts the powers of two back, and with them what underflows or overflows on the way.
template <class R>
Value<R> Arithmetic<R>::rescaled(Value<R> result, const ProductParts<R>& parts, bool exact_on_the_way) {
  scale_exactly(result, parts.negative, parts.exponent);
  const bool partial = parts.steps > 1 && result.may(admits_finite);
  if (partial) result = with_joined_divisors(result, parts);
  if (partial && parts.extents.below < rounding_.tau && !exact_on_the_way) {
    // A partial product in some association underflows, and the factors that follow amplify what it lost.
    const double lost = vanishing() * parts.extents.above;
    finish(result, rounding_.half_eta + static_cast<double>(parts.steps) * lost + result.local, 0);
  } else if (parts.exponent < 0 && result.magnitude() < rounding_.tau && result.quantum < rounding_.eta_exponent) {
    finish(result, rounding_.half_eta + result.local, 0);
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
  if (!parts.factors.empty() && ordinary && !(parts.factors[0].divides && holds_zero(only))) {
    parts.extents.add(parts.factors[0]);
  }
  // With powers of two alone, too, a partial product in some association may overflow.
  if (parts.steps > 1 && ordinary && parts.extents.above > rounding_.omega) return wild();
  if (!ordinary && may_vanish(parts)) only.flags |= admits_nan;
  const double narrowed = contracted && only.may(admits_finite) ? only.magnitude() * operand_error(only) : 0;
  if (narrowed > 0) {
    const double local = only.local;
    finish(only, narrowed, 0);
    only.local = only.may(interval_only) ? 0 : narrowed + local;
  }
  return rescaled(only, parts, false);
}

/// With infinite or NaN factors, or divisors that may be zero.
template <class R>
Value<R> Arithmetic<R>::special_product(ProductParts<R>& parts, bool contracted) {
  for (const Factor<R>& f : parts.factors) parts.extents.add(f);
  const Extents& reach = parts.extents;
  const bool several = parts.steps > 1;
  if (several && !(std::max(reach.above, reach.divisors_above) <= rounding_.omega)) return wild();
  if (several && parts.all_divisors > 1 && !(reach.divisors_below >= rounding_.tau)) return wild();
  Value<R> v;
  product_specials(parts.factors, v);
  if (may_vanish(parts)) v.flags |= admits_nan;
  const double m = std::max(std::fabs(v.lower), std::fabs(v.upper));
  // What underflows on the way is amplified by the factors that follow.
  const double lost = several ? parts.operations * reach.above : 1;
  const double inherited = contracted ? operand_errors(parts) : 0;
  finish(v, (parts.operations * rounding_.u * 1.0625 + inherited) * m + rounding_.eta * lost,
         several || inherited > 0 ? 0 : parts.operations * rounding_.u * 1.0625);
  return rescaled(v, parts, false);
}

/// What the significands and grids of ordinary factors say of their product.
struct Arithmetics {
  double bits = 0;           ///< that its significand may take
  std::int32_t quantum = 0;
  std::int32_t finest = 0;   ///< grid of the finest partial product
  bool zero = false;
  bool points = true;
  bool edges = false;
};

template <class R>
Arithmetics arithmetics_of(std::span<const Factor<R>> factors) {
  Arithmetics a;
  for (const Factor<R>& f : factors) {
    a.edges = a.edges || f.value.node != no_node;
    a.points = a.points && f.value.exact();
    a.zero = a.zero || (!f.divides && f.value.is_zero());
    a.bits += f.divides ? infinity : significant_bits(f.value);
    const bool known = !f.divides && f.value.quantum > no_quantum / 2;
    a.quantum = known && a.quantum > no_quantum / 2 ? a.quantum + f.value.quantum : no_quantum;
    if (known && f.value.quantum < 0) a.finest += f.value.quantum;
  }
  return a;
}

/// A quotient of two points that is a number of the format.
template <class R>
bool is_exact_quotient(const ProductParts<R>& parts, const Value<R>& v, const Rounding& rounding) {
  if (parts.operations != 1 || parts.divisors != 1 || parts.factors.size() != 2 || !parts.factors[1].divides) return false;
  const Value<R>& dividend = parts.factors[0].value;
  const Value<R>& divisor = parts.factors[1].value;
  return dividend.exact() && divisor.exact() && v.reference * divisor.reference == dividend.reference &&
         rounding.holds(v.magnitude(), lowest_bit(v.reference));
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
  if (parts.steps > 1 && parts.extents.above > rounding_.omega) return wild();
  if (known.zero) return point<R>(0);
  Value<R> v;
  product_box(parts.factors, v);
  v.quantum = known.quantum;
  // The box may have underflowed where the wider reference has not.
  const double m = std::max(v.magnitude(), std::numeric_limits<double>::denorm_min());
  const bool exact = known.bits <= rounding_.precision && known.finest >= rounding_.eta_exponent;
  double relative = 0;
  double local = 0;
  if (is_exact_quotient(parts, v, rounding_)) {
    v.quantum = lowest_bit(v.reference);
  } else if (!exact) {
    relative = parts.operations * rounding_.u / (1 - parts.operations * rounding_.u);
    local = parts.operations == 1 && m < infinity ? rounding_.of_magnitude(m) : m * relative;
    relative *= 2;
  }
  if (inherited > 0) local += m * inherited;
  flush(local, v.lower, v.upper);
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
Value<R> Arithmetic<R>::product(std::span<const Factor<R>> all, bool contracted) {
  if (all.size() == 2 && !all[0].divides && !all[1].divides && all[0].value.exact() && all[1].value.exact() &&
      !is_power_of_two(all[0].value) && !is_power_of_two(all[1].value)) {
    return plain_product(all[0].value, all[1].value, contracted);
  }
  ProductParts<R> parts = parts_of(all);
  if (parts.operations == 0) return scaled_factor(parts, contracted);
  const bool special = std::any_of(parts.factors.begin(), parts.factors.end(), [](const Factor<R>& f) {
    return !f.value.ordinary() || (f.divides && holds_zero(f.value));
  });
  return special ? special_product(parts, contracted) : ordinary_product(parts, contracted);
}

template Value<double> Arithmetic<double>::wild() const;
template Value<Quad> Arithmetic<Quad>::wild() const;
template Value<double> Arithmetic<double>::product(std::span<const Factor<double>>, bool);
template Value<Quad> Arithmetic<Quad>::product(std::span<const Factor<Quad>>, bool);

}  // namespace etalon::reference::bounds
