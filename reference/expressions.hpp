/// \file
/// Expressions at given values of their variables. It knows no equation: Tensors makes sure that what is read has a value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reference/array.hpp"
#include "reference/flat.hpp"
#include "reference/integer_math.hpp"
#include "reference/interruptible.hpp"
#include "reference/scalar_math.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

/// Tensors derives from it and says `need(tensor, element)`, called before each read.
template <class T, class Tensors>
class Expressions {
 protected:
  using S = Scalar<T>;

  explicit Expressions(const spec::System& system) : system_(system), flat_(flatten(system)), slots_(flat_.slots), values_(system.tensors.size()) {
    for (const spec::Number& n : flat_.numbers) constants_.push_back(S::of(n));
  }

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  /// Before each element and each term.
  void go_on() {
    if (interruptible_ != nullptr) interruptible_->ask();
  }

  std::size_t offset(const spec::TensorInfo& info, Range indices) {
    std::int64_t o = 0;
    for (std::int32_t axis = 0; axis < indices.count; ++axis) {
      const std::int64_t extent = info.dims.extent[axis];
      const std::int64_t i = integer(flat_.args[index(indices.first + axis)]);
      if (i < 0 || i >= extent) {
        throw InternalError("evaluate: index " + std::to_string(i) + " of axis " + std::to_string(axis) + " of " +
                            info.name + " is outside 0.." + std::to_string(extent - 1));
      }
      o = o * extent + i;
    }
    return index(o);
  }

  std::size_t element(const FlatNode& n) {
    const std::size_t o = offset(system_[n.payload], n.args);
    static_cast<Tensors*>(this)->need(n.payload, o);
    return o;
  }

  // --- expressions, one function per kind ---

  T real(std::int32_t id) {
    const FlatNode& n = at(id);
    switch (n.step) {
      case Step::number: return constants_[index(n.payload)];
      case Step::read: return values_[index(n.payload)].real[element(n)];
      case Step::apply: return real_primitive(n);
      case Step::select: return boolean(arg(n, 0)) ? real(arg(n, 1)) : real(arg(n, 2));
      case Step::reduce: return real_reduction(n);
      case Step::detach: return S::detach(real(arg(n, 0)));
      case Step::affine: break;
    }
    throw InternalError("evaluate: an integer stands where a real is expected");
  }

  std::int64_t integer(std::int32_t id) {
    const FlatNode& n = at(id);
    switch (n.step) {
      case Step::number: return n.constant;
      case Step::affine: {
        auto v = static_cast<std::uint64_t>(n.constant);
        for (const AffineTerm& t : Flat::slice(flat_.terms, n.terms)) {
          v += static_cast<std::uint64_t>(t.coefficient) * static_cast<std::uint64_t>(slots_[index(t.slot)]);
        }
        return static_cast<std::int64_t>(v);
      }
      case Step::read: return values_[index(n.payload)].integer[element(n)];
      case Step::apply: return integer_primitive(n);
      case Step::select: return boolean(arg(n, 0)) ? integer(arg(n, 1)) : integer(arg(n, 2));
      case Step::reduce: return integer_reduction(n);
      case Step::detach: return integer(arg(n, 0));
    }
    throw InternalError("evaluate: unknown step");
  }

  bool boolean(std::int32_t id) {
    const FlatNode& n = at(id);
    switch (n.step) {
      case Step::number: return n.constant != 0;
      case Step::read: return values_[index(n.payload)].integer[element(n)] != 0;
      case Step::apply: return boolean_primitive(n);
      case Step::select: return boolean(arg(n, 0)) ? boolean(arg(n, 1)) : boolean(arg(n, 2));
      case Step::reduce: return boolean_reduction(n);
      case Step::detach: return boolean(arg(n, 0));
      case Step::affine: break;
    }
    throw InternalError("evaluate: an integer stands where a truth value is expected");
  }

  T real_primitive(const FlatNode& n) {
    using P = spec::Primitive;
    const std::int32_t a = n.args.count > 0 ? arg(n, 0) : 0;
    switch (n.primitive) {
      case P::to_real: return S::of(at(a).kind == Kind::boolean ? (boolean(a) ? 1 : 0) : integer(a));
      case P::add: return S::add(real(a), real(arg(n, 1)));
      case P::sub: return S::sub(real(a), real(arg(n, 1)));
      case P::mul: return S::mul(real(a), real(arg(n, 1)));
      case P::div: return S::div(real(a), real(arg(n, 1)));
      case P::pow: return S::pow(real(a), real(arg(n, 1)));
      case P::maximum: return S::maximum(real(a), real(arg(n, 1)));
      case P::minimum: return S::minimum(real(a), real(arg(n, 1)));
      case P::neg: return S::neg(real(a));
      case P::exp: return S::exp(real(a));
      case P::log: return S::log(real(a));
      case P::sqrt: return S::sqrt(real(a));
      case P::sin: return S::sin(real(a));
      case P::cos: return S::cos(real(a));
      case P::tanh: return S::tanh(real(a));
      case P::erf: return S::erf(real(a));
      case P::expm1: return S::expm1(real(a));
      case P::log1p: return S::log1p(real(a));
      case P::abs: return S::abs(real(a));
      case P::sign: return S::sign(real(a));
      case P::floor: return S::floor(real(a));
      case P::exp2: return S::exp2(real(a));
      case P::log2: return S::log2(real(a));
      case P::tan: return S::tan(real(a));
      case P::sinh: return S::sinh(real(a));
      case P::cosh: return S::cosh(real(a));
      case P::ceil: return S::ceil(real(a));
      case P::trunc: return S::trunc(real(a));
      case P::round: return S::round(real(a));
      case P::atan2: return S::atan2(real(a), real(arg(n, 1)));
      case P::modulo: return S::modulo(real(a), real(arg(n, 1)));
      case P::pi: return S::pi();
      default: throw InternalError("evaluate: " + std::string(spec::info(n.primitive).name) + " gives no real");
    }
  }

  std::int64_t integer_primitive(const FlatNode& n) {
    using P = spec::Primitive;
    const std::int32_t a = arg(n, 0);
    if (n.primitive == P::to_integer) {
      const Kind kind = at(a).kind;
      return kind == Kind::real ? S::to_integer(real(a)) : kind == Kind::boolean ? std::int64_t{boolean(a)} : integer(a);
    }
    std::int64_t v[4] = {};
    for (std::int32_t i = 0; i < n.args.count; ++i) v[i] = integer(arg(n, i));
    return integer_value(n.primitive, v);
  }

  bool boolean_primitive(const FlatNode& n) {
    using P = spec::Primitive;
    const std::int32_t a = arg(n, 0);
    switch (n.primitive) {
      case P::logical_and: return boolean(a) && boolean(arg(n, 1));
      case P::logical_or: return boolean(a) || boolean(arg(n, 1));
      case P::logical_not: return !boolean(a);
      case P::is_nan: return S::is_nan(real(a));
      case P::is_inf: return S::is_inf(real(a));
      case P::is_finite: {
        const T v = real(a);
        return !S::is_nan(v) && !S::is_inf(v);
      }
      default: return comparison(n);
    }
  }

  bool comparison(const FlatNode& n) {
    const std::int32_t a = arg(n, 0);
    const std::int32_t b = arg(n, 1);
    switch (at(a).kind) {
      case Kind::real: {
        const T x = real(a);
        const T y = real(b);
        return compare(n.primitive, S::value(x), S::value(y));
      }
      case Kind::integer: return compare(n.primitive, integer(a), integer(b));
      case Kind::boolean: return compare(n.primitive, static_cast<int>(boolean(a)), static_cast<int>(boolean(b)));
    }
    throw InternalError("evaluate: unknown kind");
  }

  template <class V>
  static bool compare(spec::Primitive p, const V& a, const V& b) {
    using P = spec::Primitive;
    switch (p) {
      case P::eq: return a == b;
      case P::ne: return a != b;
      case P::lt: return a < b;
      case P::le: return a <= b;
      case P::gt: return a > b;
      case P::ge: return a >= b;
      default: throw InternalError("evaluate: not a comparison");
    }
  }

  // --- reductions ---

  /// Calls `visit` at every point where the guard holds, in row-major order, until it returns false.
  template <class Visit>
  bool walk(const FlatNode& n, std::int32_t depth, std::int32_t guard, Visit& visit) {
    while (guard < n.guards.count && flat_.guards[index(n.guards.first + guard)].depth <= depth) {
      if (!boolean(flat_.guards[index(n.guards.first + guard)].node)) return true;
      ++guard;
    }
    if (depth == n.loops.count) return visit();
    const Loop& loop = flat_.loops[index(n.loops.first + depth)];
    for (std::int64_t i = 0; i < loop.extent; ++i) {
      go_on();
      slots_[index(loop.slot)] = i;
      if (!walk(n, depth + 1, guard, visit)) return false;
    }
    return true;
  }

  std::int64_t position(const FlatNode& n) const {
    std::int64_t p = 0;
    for (const Loop& l : Flat::slice(flat_.loops, n.loops)) p = p * l.extent + slots_[index(l.slot)];
    return p;
  }

  [[noreturn]] static void refuse_empty(const FlatNode& n) {
    throw SpecViolation("evaluate: " + std::string(spec::name_of(n.reduction)) + " over nothing has no value");
  }

  T real_reduction(const FlatNode& n) {
    const std::int32_t body = arg(n, 0);
    using R = spec::Reduction;
    if (n.reduction == R::sum || n.reduction == R::prod) {
      const bool sum = n.reduction == R::sum;
      T total = S::of(sum ? 0 : 1);
      auto visit = [&] {
        total = sum ? S::add(total, real(body)) : S::mul(total, real(body));
        return true;
      };
      walk(n, 0, 0, visit);
      return total;
    }
    T best{};
    std::int64_t at_position = -1;
    find_real_extremum(n, best, at_position);
    if (at_position >= 0) return best;
    if (n.args.count < 2) refuse_empty(n);
    return real(arg(n, 1));
  }

  /// The first extremum; a NaN beats every number, and the first NaN every later one.
  void find_real_extremum(const FlatNode& n, T& best, std::int64_t& at_position) {
    using R = spec::Reduction;
    const bool greatest = n.reduction == R::max || n.reduction == R::argmax;
    auto visit = [&] {
      T v = real(arg(n, 0));
      const bool better = at_position < 0 || (S::is_nan(v) && !S::is_nan(best)) ||
                          (greatest ? S::value(best) < S::value(v) : S::value(v) < S::value(best));
      if (better) {
        best = std::move(v);
        at_position = position(n);
      }
      return true;
    };
    walk(n, 0, 0, visit);
  }

  std::int64_t integer_reduction(const FlatNode& n) {
    using R = spec::Reduction;
    if (n.reduction == R::sum || n.reduction == R::prod) return integer_total(n);
    std::int64_t at_position = -1;
    std::int64_t best = 0;
    if (at(arg(n, 0)).kind == Kind::real) {
      T real_best{};
      find_real_extremum(n, real_best, at_position);
    } else {
      const bool greatest = n.reduction == R::max || n.reduction == R::argmax;
      auto visit = [&] {
        const std::int64_t v = integer(arg(n, 0));
        if (at_position < 0 || (greatest ? best < v : v < best)) {
          best = v;
          at_position = position(n);
        }
        return true;
      };
      walk(n, 0, 0, visit);
    }
    if (at_position >= 0) return n.reduction == R::max || n.reduction == R::min ? best : at_position;
    if (n.args.count < 2) refuse_empty(n);
    return integer(arg(n, 1));
  }

  std::int64_t integer_total(const FlatNode& n) {
    using P = spec::Primitive;
    const bool sum = n.reduction == spec::Reduction::sum;
    std::int64_t total = sum ? 0 : 1;
    auto visit = [&] {
      const std::int64_t pair[2] = {total, integer(arg(n, 0))};
      total = integer_value(sum ? P::add : P::mul, pair);
      return true;
    };
    walk(n, 0, 0, visit);
    return total;
  }

  bool boolean_reduction(const FlatNode& n) {
    const bool any = n.reduction == spec::Reduction::any;
    bool result = !any;
    auto visit = [&] {
      if (boolean(arg(n, 0)) == any) {
        result = any;
        return false;
      }
      return true;
    };
    walk(n, 0, 0, visit);
    return result;
  }

  const spec::System& system_;
  Flat flat_;
  std::vector<std::int64_t> slots_;
  std::vector<Array<T>> values_;

 private:
  const FlatNode& at(std::int32_t n) const { return flat_.nodes[index(n)]; }
  std::int32_t arg(const FlatNode& n, std::int32_t i) const { return flat_.args[index(n.args.first + i)]; }

  std::vector<T> constants_;
  Interruptible* interruptible_ = Interruptible::innermost();
};

}  // namespace etalon::reference
