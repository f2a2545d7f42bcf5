/// \file
/// A conforming evaluator that takes every freedom the model and the contract grant: any tree for a sum, FMA or not, any
/// association of products, functions anywhere within their ulps or always at one end, higher precision inside, flushed
/// results and operands, reciprocals, operands of products in few bits. It shares no code with the bounds but the normal
/// form of a system's locals.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "reference/bounds/host_element.hpp"
#include "reference/bounds/plan.hpp"
#include "reference/bounds/wide.hpp"
#include "spec/contract/contract.hpp"
#include "tests/reference/bounds_choices.hpp"
#include "spec/half.hpp"
#include "spec/host_tensor.hpp"
#include "spec/philox.hpp"
#include "spec/system/recurrence.hpp"
#include "spec/system/system.hpp"

namespace etalon::bounds_test {

/// One run of a system in T (float or double).
template <class T>
class Simulator {
 public:
  Simulator(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract, unsigned seed)
      : Simulator(system, inputs, contract, Choices(seed)) {}

  Simulator(const spec::System& system, std::span<const HostTensor> inputs, const spec::Contract& contract, Choices choices)
      : random_(std::move(choices)),
        system_(random_() % 2 == 0 ? system : reference::bounds::inline_single_uses(system)),
        contract_(contract) {
    values_.resize(system_.tensors.size());
    integers_.resize(system_.tensors.size());
    variables_.resize(4096 + index(system_.next_variable));
    for (std::size_t i = 0; i < inputs.size(); ++i) load(system.inputs[i], inputs[i]);
    strategy_ = static_cast<int>(random_() % 5);
    fuse_ = random_() % 2 == 0;
    lean_ = static_cast<int>(random_() % 4);
    flush_ = random_() % 2 == 0;
  }

  std::vector<HostTensor> run() {
    const std::vector<spec::Recurrence> recurrences = spec::recurrences(system_);
    auto next = recurrences.begin();
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      if (next != recurrences.end() && next->equations.front().equation == i) {
        run_steps(*next);
        i += next->equations.size() - 1;
        ++next;
        continue;
      }
      const auto& q = system_.equations[i];
      make_room(q);
      each(q.binders, 0, [&] { assign(q); });
    }
    std::vector<HostTensor> out;
    for (const auto t : system_.outputs) out.push_back(unload(t));
    return out;
  }

 private:
  using Primitive = spec::Primitive;
  using Expr = spec::Expr;
  using Form = spec::Form;
  using Reduction = spec::Reduction;
  using Wider = std::conditional_t<std::is_same_v<T, float>, double, reference::bounds::Quad>;

  /// A term of a sum: a value, or a product that has not been rounded yet.
  struct Term {
    T a = 0;
    T b = 1;
    bool product = false;
  };
  struct Item {
    T value = 0;
    bool divides = false;
  };

  void make_room(const spec::Equation& q) {
    values_[index(q.target)].resize(static_cast<std::size_t>(system_[q.target].dims.count()));
    integers_[index(q.target)].resize(values_[index(q.target)].size());
  }

  void assign(const spec::Equation& q) {
    std::vector<std::int64_t> place;
    for (const auto& p : q.place) place.push_back(integer(p));
    const std::size_t at = offset(q.target, place);
    const auto kind = kind_of(system_[q.target].dtype);
    if (const DType stored = system_[q.target].dtype; spec::is_half(stored)) {
      const auto bits = spec::nearest_half(static_cast<double>(real(q.value)), stored);
      values_[index(q.target)][at] = static_cast<T>(spec::half_value(bits, stored));
    } else if (stored == DType::f32) values_[index(q.target)][at] = static_cast<T>(static_cast<float>(real(q.value)));
    else if (kind == Kind::real) values_[index(q.target)][at] = real(q.value);
    else integers_[index(q.target)][at] = kind == Kind::boolean ? boolean(q.value) : integer(q.value);
  }

  void run_steps(const spec::Recurrence& r) {
    for (const auto& member : r.equations) make_room(system_.equations[member.equation]);
    for (std::int64_t s = 0; s < r.steps; ++s) {
      for (const auto& member : r.equations) {
        const auto& q = system_.equations[member.equation];
        auto others = q.binders;
        variables_[index(others[member.binder].variable)] = r.backwards ? r.steps - 1 - s : s;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(member.binder));
        each(others, 0, [&] { assign(q); });
      }
    }
  }

  static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }

  void load(spec::TensorId t, const HostTensor& h) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(h.dims.count()); ++i) {
      if (kind_of(h.dtype) == Kind::real) values_[index(t)].push_back(static_cast<T>(reference::bounds::real_element(h, i)));
      else integers_[index(t)].push_back(reference::bounds::integer_element(h, i));
    }
  }

  HostTensor unload(spec::TensorId t) {
    const auto& info = system_[t];
    HostTensor h(info.dtype, info.dims);
    for (std::size_t i = 0; i < static_cast<std::size_t>(info.dims.count()); ++i) {
      const auto& real = values_[index(t)];
      if (spec::is_half(info.dtype)) h.view<std::uint16_t>()[i] = spec::nearest_half(static_cast<double>(real.at(i)), info.dtype);
      else if (info.dtype == DType::f32) h.view<float>()[i] = static_cast<float>(real.at(i));
      else if (info.dtype == DType::f64) h.view<double>()[i] = static_cast<double>(real.at(i));
      else if (info.dtype == DType::i64) h.view<std::int64_t>()[i] = integers_[index(t)][i];
      else if (info.dtype == DType::i32) h.view<std::int32_t>()[i] = static_cast<std::int32_t>(integers_[index(t)][i]);
      else h.view<std::uint8_t>()[i] = static_cast<std::uint8_t>(integers_[index(t)][i]);
    }
    return h;
  }

  std::size_t offset(spec::TensorId t, const std::vector<std::int64_t>& place) {
    const Dims& dims = system_[t].dims;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < dims.rank; ++i) at = at * dims[i] + place[i];
    return static_cast<std::size_t>(at);
  }

  template <class Body>
  void each(const std::vector<spec::Binder>& binders, std::size_t i, const Body& body) {
    if (i == binders.size()) return body();
    for (std::int64_t v = 0; v < binders[i].extent; ++v) {
      variables_[index(binders[i].variable)] = v;
      each(binders, i + 1, body);
    }
  }

  std::size_t place_of(const Expr& e) {
    std::vector<std::int64_t> place;
    for (const auto& a : e->args) place.push_back(integer(a));
    return offset(e->tensor, place);
  }

  /// Towards 0, beyond the integers their nearest end, NaN as 0.
  static std::int64_t cut(T x) {
    if (std::isnan(x)) return 0;
    constexpr T end = 0x1p63F;
    if (x >= end) return std::numeric_limits<std::int64_t>::max();
    return x < -end ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(x);
  }

  std::int64_t integer(const Expr& e) {
    switch (e.form()) {
      case Form::number: return e->number.mantissa;
      case Form::variable: return variables_[index(e->variable)];
      case Form::read: return integers_[index(e->tensor)][place_of(e)];
      case Form::select: return integer(boolean(e->args[0]) ? e->args[1] : e->args[2]);
      case Form::detach: return integer(e->args[0]);
      case Form::reduce: return position(e);
      case Form::apply: break;
    }
    if (e->args[0].kind() == Kind::real) return cut(real(e->args[0]));
    const std::int64_t a = e->args[0].kind() == Kind::boolean ? boolean(e->args[0]) : integer(e->args[0]);
    if (e->args.size() == 1) {
      if (e->primitive == Primitive::sign) return (a > 0) - (a < 0);
      return e->primitive == Primitive::neg || (e->primitive == Primitive::abs && a < 0) ? -a : a;
    }
    const std::int64_t b = integer(e->args[1]);
    if (e->primitive == Primitive::philox) {
      const auto word = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
      return spec::philox_word(word(a), word(b), word(integer(e->args[2])), word(integer(e->args[3])));
    }
    if (b == 0 && (e->primitive == Primitive::floor_div || e->primitive == Primitive::modulo)) return 0;
    const auto floor = [&] { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); };
    switch (e->primitive) {
      case Primitive::add: return a + b;
      case Primitive::sub: return a - b;
      case Primitive::mul: return a * b;
      case Primitive::floor_div: return floor();
      case Primitive::modulo: return a - floor() * b;
      case Primitive::maximum: return std::max(a, b);
      default: return std::min(a, b);
    }
  }

  std::int64_t position(const Expr& e) {
    if (e->args[1].kind() != Kind::real) return whole(e);
    std::int64_t best = 0;
    std::int64_t at = -1;
    bool any = false;
    T extreme = 0;
    each(e->binders, 0, [&] {
      ++at;
      if (!boolean(e->args[0])) return;
      const T x = real(e->args[1]);
      if (!any || (e->reduction == Reduction::argmax ? x > extreme : x < extreme)) {
        extreme = x;
        best = at;
      }
      any = true;
    });
    return best;
  }

  /// A reduction of integers or truth values: exact, and wrapping.
  std::int64_t whole(const Expr& e) {
    const bool smallest = e->reduction == Reduction::min || e->reduction == Reduction::argmin;
    auto total = static_cast<std::uint64_t>(e->reduction == Reduction::prod ? 1 : 0);
    std::int64_t extreme = 0;
    std::int64_t best = 0;
    std::int64_t at = -1;
    bool any = false;
    each(e->binders, 0, [&] {
      ++at;
      if (!boolean(e->args[0])) return;
      const std::int64_t x = e->args[1].kind() == Kind::boolean ? boolean(e->args[1]) : integer(e->args[1]);
      if (e->reduction == Reduction::prod) total *= static_cast<std::uint64_t>(x);
      else total += static_cast<std::uint64_t>(x);
      if (!any || (smallest ? x < extreme : x > extreme)) {
        extreme = x;
        best = at;
      }
      any = true;
    });
    if (e->reduction == Reduction::argmax || e->reduction == Reduction::argmin) return best;
    if (e->reduction == Reduction::sum || e->reduction == Reduction::prod) return static_cast<std::int64_t>(total);
    if (!any && e->args.size() > 2) return e->args[2].kind() == Kind::boolean ? boolean(e->args[2]) : integer(e->args[2]);
    return extreme;
  }

  bool boolean(const Expr& e) {
    if (e.form() == Form::number) return e->number.mantissa != 0;
    if (e.form() == Form::read) return integers_[index(e->tensor)][place_of(e)] != 0;
    if (e.form() == Form::reduce) {
      if (e->reduction != Reduction::all && e->reduction != Reduction::any) return whole(e) != 0;
      bool result = e->reduction == Reduction::all;
      each(e->binders, 0, [&] {
        if (!boolean(e->args[0])) return;
        const bool x = boolean(e->args[1]);
        result = e->reduction == Reduction::all ? result && x : result || x;
      });
      return result;
    }
    if (e.form() == Form::select) return boolean(boolean(e->args[0]) ? e->args[1] : e->args[2]);
    switch (e->primitive) {
      case Primitive::logical_and: return boolean(e->args[0]) && boolean(e->args[1]);
      case Primitive::logical_or: return boolean(e->args[0]) || boolean(e->args[1]);
      case Primitive::logical_not: return !boolean(e->args[0]);
      case Primitive::is_nan: return std::isnan(real(e->args[0]));
      case Primitive::is_inf: return std::isinf(real(e->args[0]));
      case Primitive::is_finite: return std::isfinite(real(e->args[0]));
      default: break;
    }
    const auto compare = [&](auto a, auto b) {
      switch (e->primitive) {
        case Primitive::eq: return a == b;
        case Primitive::ne: return a != b;
        case Primitive::lt: return a < b;
        case Primitive::le: return a <= b;
        case Primitive::gt: return a > b;
        default: return a >= b;
      }
    };
    if (e->args[0].kind() == Kind::real) {
      const T a = real(e->args[0]);
      return compare(a, real(e->args[1]));
    }
    if (e->args[0].kind() == Kind::boolean) return compare(boolean(e->args[0]), boolean(e->args[1]));
    const std::int64_t a = integer(e->args[0]);
    return compare(a, integer(e->args[1]));
  }

  static bool closed(const Expr& e) {
    if (e.form() == Form::variable || e.form() == Form::read || e.form() == Form::reduce) return false;
    for (const auto& a : e->args) {
      if (!closed(a)) return false;
    }
    return true;
  }

  /// A closed expression as a host computes it.
  double held(const Expr& e) {
    if (e.form() == Form::number && e.kind() == Kind::integer) return static_cast<double>(e->number.mantissa);
    if (e.form() == Form::number) {
      return e->number.is_binary ? e->number.binary
                                 : reference::bounds::from_decimal<double>(e->number.mantissa, e->number.exponent);
    }
    if (e.form() == Form::select) return held(boolean(e->args[0]) ? e->args[1] : e->args[2]);
    if (e.form() == Form::detach) return held(e->args[0]);
    const double a = e->args.empty() ? 0 : held(e->args[0]);
    const double b = e->args.size() < 2 ? 0 : held(e->args[1]);
    switch (e->primitive) {
      case Primitive::add: return a + b;
      case Primitive::sub: return a - b;
      case Primitive::mul: return a * b;
      case Primitive::div: return a / b;
      case Primitive::neg: return -a;
      case Primitive::to_real:
      case Primitive::to_integer: return a;
      case Primitive::abs: return std::fabs(a);
      case Primitive::maximum: return std::max(a, b);
      case Primitive::minimum: return std::min(a, b);
      default: return reference::bounds::Wide<double>::evaluate(e->primitive, a, b);
    }
  }

  T real(const Expr& e) {
    if (closed(e)) return static_cast<T>(held(e));
    switch (e.form()) {
      case Form::read: return operand(values_[index(e->tensor)][place_of(e)]);
      case Form::select: return real(boolean(e->args[0]) ? e->args[1] : e->args[2]);
      case Form::detach: return real(e->args[0]);
      case Form::reduce:
        if (e->reduction == Reduction::sum) return sum(e);
        if (e->reduction == Reduction::prod) return product(e);
        return extremum(e);
      default: break;
    }
    switch (e->primitive) {
      case Primitive::add:
      case Primitive::sub:
      case Primitive::neg: return sum(e);
      case Primitive::mul:
      case Primitive::div: return product(e);
      case Primitive::abs: return std::fabs(real(e->args[0]));
      case Primitive::maximum: return std::max(real(e->args[0]), real(e->args[1]));
      case Primitive::minimum: return std::min(real(e->args[0]), real(e->args[1]));
      case Primitive::floor: return std::floor(real(e->args[0]));
      case Primitive::modulo: {
        const T dividend = real(e->args[0]);
        return static_cast<T>(reference::bounds::Wide<Wider>::evaluate(e->primitive, dividend, real(e->args[1])));
      }
      case Primitive::sign: {
        const T x = real(e->args[0]);
        return std::isnan(x) ? x : static_cast<T>((x > 0) - (x < 0));
      }
      case Primitive::to_real:
        return static_cast<T>(e->args[0].kind() == Kind::boolean ? boolean(e->args[0]) : integer(e->args[0]));
      default: return noisy(e);
    }
  }

  /// A result as the format and the contract let it be: a subnormal one may be zero.
  T result(T x) { return contract_.flush_results && vanishes(x) ? T(0) : x; }
  T operand(T x) { return contract_.flush_operands && vanishes(x) ? T(0) : x; }
  bool vanishes(T x) { return x != 0 && std::fabs(x) < std::numeric_limits<T>::min() && (flush_ || random_() % 2 == 0); }

  /// An operand of a product that is summed up, in the few bits that the contract may declare.
  T narrow(T x) {
    const int bits = contract_.product_operand_precision;
    if (bits == 0 || x == 0 || !std::isfinite(x) || random_() % 4 == 0) return x;
    int exponent = 0;
    const T m = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(m, bits)), exponent - bits);
  }

  T quotient(T a, T b) {
    if (contract_.reciprocal_division && random_() % 2 == 0) return result(a * result(T(1) / b));
    return result(a / b);
  }

  T extremum(const Expr& e) {
    bool any = false;
    T best = 0;
    each(e->binders, 0, [&] {
      if (!boolean(e->args[0])) return;
      const T x = real(e->args[1]);
      if (!any || (e->reduction == Reduction::max ? x > best : x < best)) best = x;
      any = true;
    });
    return any || e->args.size() < 3 ? best : real(e->args[2]);
  }

  /// What no evaluator rounds: integers nearby, x^0 and powers of zero, the angle of a point on the axis y = 0, x > 0.
  static bool is_exact(Primitive p, T x, T y, const Wider& exact) {
    switch (p) {
      case Primitive::floor: case Primitive::ceil: case Primitive::trunc: case Primitive::round: return true;
      case Primitive::pow: return x == 0 || y == 0;
      case Primitive::atan2: return x == 0 && exact == 0;
      default: return false;
    }
  }

  /// Any number of the format within the promised ulps of the exact function value.
  T noisy(const Expr& e) {
    const T x = real(e->args[0]);
    const T y = e->args.size() > 1 ? real(e->args[1]) : T(0);
    const Wider exact = reference::bounds::Wide<Wider>::evaluate(e->primitive, x, y);
    const T nearest = static_cast<T>(exact);
    if (!std::isfinite(nearest) || !std::isfinite(x) || !std::isfinite(y)) return nearest;
    if (is_exact(e->primitive, x, y, exact)) return nearest;
    const auto bound = spec::function_bound(contract_, std::is_same_v<T, float> ? DType::f32 : DType::f64, e->primitive);
    double size = std::fabs(static_cast<double>(exact));
    if (static_cast<Wider>(size) > (exact < 0 ? -exact : exact)) size = std::nextafter(size, 0.0);
    int exponent = 0;
    std::frexp(size, &exponent);
    const int digits = std::numeric_limits<T>::digits;
    const double least = static_cast<double>(std::numeric_limits<T>::denorm_min());
    const double ulp = size == 0 ? least : std::max(std::ldexp(1.0, exponent - digits), least);
    const double size_of_x = e->primitive == Primitive::pow     ? std::fabs(static_cast<double>(y) * std::log(std::fabs(static_cast<double>(x))))
                             : e->primitive == Primitive::atan2 ? 0
                                                                : std::fabs(static_cast<double>(x));
    const double ulps = bound.k0 + (bound.k1 == 0 ? 0 : bound.k1 * size_of_x);
    const double allowed = (ulps * ulp + bound.absolute) * 0.999999;
    const auto admitted = [&](T got) {
      const Wider error = static_cast<Wider>(got) - exact;
      return static_cast<double>(error < 0 ? -error : error) <= allowed;
    };
    // Anywhere nearby, or for the whole run at the upper or the lower end.
    const T infinity = std::numeric_limits<T>::infinity();
    if (lean_ < 2) {
      T end = static_cast<T>(exact + static_cast<Wider>(lean_ == 1 ? allowed : -allowed));
      while (!admitted(end) && end != nearest) end = std::nextafter(end, nearest);
      return result(end);
    }
    T value = nearest;
    for (int steps = static_cast<int>(random_() % 4); steps > 0; --steps) {
      const T next = std::nextafter(value, random_() % 2 == 0 ? infinity : -infinity);
      if (admitted(next)) value = next;
    }
    return result(value);
  }

  void terms(const Expr& e, bool negative, bool contracted, std::vector<Term>& into) {
    if (!closed(e)) {
      if (e.form() == Form::select) return terms(boolean(e->args[0]) ? e->args[1] : e->args[2], negative, contracted, into);
      if (e.form() == Form::detach) return terms(e->args[0], negative, contracted, into);
      if (e.form() == Form::reduce && e->reduction == Reduction::sum) {
        return each(e->binders, 0, [&] {
          if (boolean(e->args[0])) terms(e->args[1], negative, true, into);
        });
      }
      if (e.is(Primitive::neg)) return terms(e->args[0], !negative, contracted, into);
      if (e.is(Primitive::add) || e.is(Primitive::sub)) {
        terms(e->args[0], negative, contracted, into);
        return terms(e->args[1], e.is(Primitive::sub) ? !negative : negative, contracted, into);
      }
      if (e.is(Primitive::mul) && fuse_) {
        const T a = real(e->args[0]);
        const T b = real(e->args[1]);
        // A factor that a host knows makes a scaling, not a contraction.
        const bool narrows = contracted && !closed(e->args[0]) && !closed(e->args[1]);
        const T first = narrows ? narrow(a) : a;
        into.push_back({negative ? -first : first, narrows ? narrow(b) : b, true});
        return;
      }
    }
    const T x = real(e);
    into.push_back({negative ? -x : x, 1, false});
  }

  T rounded(const Term& t) { return t.product ? result(t.a * t.b) : t.a; }

  T join(const Term& x, const Term& y) {
    if (x.product && random_() % 2 == 0) return result(std::fma(x.a, x.b, rounded(y)));
    if (y.product) return result(std::fma(y.a, y.b, rounded(x)));
    return result(rounded(x) + rounded(y));
  }

  T sum(const Expr& e) {
    std::vector<Term> list;
    terms(e, false, false, list);
    if (list.empty()) return 0;
    if (strategy_ == 0) {
      Wider total = 0;
      for (const Term& t : list) total += static_cast<Wider>(t.a) * static_cast<Wider>(t.b);
      return result(static_cast<T>(total));
    }
    if (strategy_ >= 2) std::shuffle(list.begin(), list.end(), random_);
    while (list.size() > 1) {
      if (strategy_ == 4) {
        std::vector<Term> next;
        for (std::size_t i = 0; i + 1 < list.size(); i += 2) next.push_back({join(list[i], list[i + 1]), 1, false});
        if (list.size() % 2 == 1) next.push_back(list.back());
        list = std::move(next);
        continue;
      }
      // In order, or any two.
      const std::size_t i = strategy_ == 3 ? random_() % (list.size() - 1) : list.size() - 2;
      const Term joined{join(list[i], list.back()), 1, false};
      list.pop_back();
      list[i] = joined;
    }
    return rounded(list[0]);
  }

  void factors(const Expr& e, bool divides, std::vector<Item>& into) {
    if (!closed(e)) {
      if (e.form() == Form::select) return factors(boolean(e->args[0]) ? e->args[1] : e->args[2], divides, into);
      if (e.form() == Form::detach) return factors(e->args[0], divides, into);
      if (e.form() == Form::reduce && e->reduction == Reduction::prod) {
        return each(e->binders, 0, [&] {
          if (boolean(e->args[0])) factors(e->args[1], divides, into);
        });
      }
      if (e.is(Primitive::mul) || e.is(Primitive::div)) {
        factors(e->args[0], divides, into);
        return factors(e->args[1], e.is(Primitive::div) ? !divides : divides, into);
      }
    }
    into.push_back({real(e), divides});
  }

  T product(const Expr& e) {
    std::vector<Item> list;
    factors(e, false, list);
    if (list.empty()) return 1;
    while (list.size() > 1) {
      const std::size_t i = random_() % list.size();
      std::size_t j = random_() % (list.size() - 1);
      if (j >= i) ++j;
      Item joined;
      if (list[i].divides == list[j].divides) joined = {result(list[i].value * list[j].value), list[i].divides};
      else if (list[i].divides) joined = {quotient(list[j].value, list[i].value), false};
      else joined = {quotient(list[i].value, list[j].value), false};
      list[std::min(i, j)] = joined;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
    }
    return list[0].divides ? quotient(1, list[0].value) : list[0].value;
  }

  Choices random_;
  spec::System system_;
  spec::Contract contract_;
  std::vector<std::vector<T>> values_;
  std::vector<std::vector<std::int64_t>> integers_;
  std::vector<std::int64_t> variables_;
  int strategy_ = 0;
  int lean_ = 0;
  bool fuse_ = false;
  bool flush_ = false;
};

}  // namespace etalon::bounds_test
