#include "tests/simulator/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace etalon::bounds_test {
namespace {

using spec::Primitive;

/// What no evaluator rounds: integers nearby, x^0 and powers of zero, the angle of a point on the axis y = 0, x > 0.
template <class T>
bool is_exact(Primitive p, T x, T y, const typename Rounding<T>::Wider& exact) {
  switch (p) {
    case Primitive::floor: case Primitive::ceil: case Primitive::trunc: case Primitive::round: return true;
    case Primitive::pow: return x == 0 || y == 0;
    case Primitive::atan2: return x == 0 && exact == 0;
    default: return false;
  }
}

template <class T>
double ulp_at(const typename Rounding<T>::Wider& exact) {
  using Wider = typename Rounding<T>::Wider;
  double size = std::fabs(static_cast<double>(exact));
  if (static_cast<Wider>(size) > (exact < 0 ? -exact : exact)) size = std::nextafter(size, 0.0);
  int exponent = 0;
  std::frexp(size, &exponent);
  const auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
  return size == 0 ? least : std::max(std::ldexp(1.0, exponent - std::numeric_limits<T>::digits), least);
}

/// What a contract with `exact_points` promises besides: exp 0, log 1, tanh 0, erf 0, ….
template <class T>
bool is_promised(const spec::FunctionBound& bound, Primitive p, T x, const typename Rounding<T>::Wider& exact) {
  if (!bound.exact_points) return false;
  return p == Primitive::log || p == Primitive::log2 ? x == 1 : x == 0 && (exact == 0 || exact == 1);
}

template <class T>
spec::FunctionBound bound_of(const spec::Contract& contract, Primitive p) {
  return spec::function_bound(contract, std::is_same_v<T, float> ? DType::f32 : DType::f64, p);
}

/// How far from exact the contract lets the function be, a little less.
template <class T>
double allowed_error(const spec::Contract& contract, Primitive p, double x, double y, const typename Rounding<T>::Wider& exact) {
  const spec::FunctionBound bound = bound_of<T>(contract, p);
  double size = std::fabs(x);
  if (p == Primitive::pow) size = std::fabs(y * std::log(std::fabs(x)));
  if (p == Primitive::atan2) size = 0;
  const double ulps = bound.k0 + (bound.k1 == 0 ? 0 : bound.k1 * size);
  return (ulps * ulp_at<T>(exact) + bound.absolute) * 0.999999;
}

}  // namespace

template <class T>
Rounding<T>::Rounding(const spec::Contract& contract, Choices& random)
    : contract_(contract), random_(random), lean_(static_cast<int>(random() % 4)), flush_(random() % 2 == 0) {}

template <class T>
bool Rounding<T>::vanishes(T x) {
  return x != 0 && std::fabs(x) < std::numeric_limits<T>::min() && (flush_ || random_() % 2 == 0);
}

template <class T>
T Rounding<T>::narrow(T x) {
  const int bits = contract_.product_operand_precision;
  if (bits == 0 || x == 0 || !std::isfinite(x) || random_() % 4 == 0) return x;
  int exponent = 0;
  const T m = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
}

template <class T>
T Rounding<T>::quotient(T a, T b) {
  if (contract_.reciprocal_division && random_() % 2 == 0) return result(a * result(T(1) / b));
  return result(a / b);
}

template <class T>
T Rounding<T>::function(Primitive p, T x, T y) {
  const Wider exact = reference::bounds::Wide<Wider>::evaluate(p, x, y);
  const T nearest = static_cast<T>(exact);
  if (!std::isfinite(nearest) || !std::isfinite(x) || !std::isfinite(y) || is_exact(p, x, y, exact)) return nearest;
  if (is_promised(bound_of<T>(contract_, p), p, x, exact)) return nearest;
  const double allowed = allowed_error<T>(contract_, p, static_cast<double>(x), static_cast<double>(y), exact);
  const auto admitted = [&](T got) {
    const Wider error = static_cast<Wider>(got) - exact;
    return static_cast<double>(error < 0 ? -error : error) <= allowed;
  };
  if (p == Primitive::sqrt && x == 0) return nearest;  // the root of a zero is that zero, under any contract
  // Anywhere nearby, or for the whole run at the upper or the lower end.
  if (lean_ < 2) {
    T end = static_cast<T>(exact + static_cast<Wider>(lean_ == 1 ? allowed : -allowed));
    while (!admitted(end) && end != nearest) end = std::nextafter(end, nearest);
    return result(end);
  }
  const T infinity = std::numeric_limits<T>::infinity();
  T value = nearest;
  for (int steps = static_cast<int>(random_() % 4); steps > 0; --steps) {
    const T next = std::nextafter(value, random_() % 2 == 0 ? infinity : -infinity);
    if (admitted(next)) value = next;
  }
  return result(value);
}

template class Rounding<float>;
template class Rounding<double>;

}  // namespace etalon::bounds_test
