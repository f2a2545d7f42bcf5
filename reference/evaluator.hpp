/// \file
/// The evaluator's body, instantiated once per number type by evaluate_*.cpp and included by nothing else.
#pragma once

#include <string>
#include <utility>

#include "reference/evaluate.hpp"
#include "reference/exact/undecided.hpp"
#include "reference/flat.hpp"
#include "reference/integer_math.hpp"
#include "reference/scalar_math.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::reference {

template <class T>
class Evaluator {
 public:
  using S = Scalar<T>;

  Evaluator(const spec::System& system, std::span<const Array<T>> inputs)
      : system_(system), flat_(flatten(system)), slots_(flat_.slots) {
    for (const spec::Number& n : flat_.numbers) constants_.push_back(S::of(n));
    values_.resize(system.tensors.size());
    place_inputs(inputs);
  }

  std::vector<Array<T>> run() {
    const std::vector<spec::Recurrence> recurrences = spec::recurrences(system_);
    auto next = recurrences.begin();
    for (std::size_t i = 0; i < flat_.equations.size();) {
      if (next != recurrences.end() && next->equations.front().equation == i) {
        run_recurrence(*next);
        i += next++->equations.size();
      } else {
        allocate(flat_.equations[i].target);
        run_loops(flat_.equations[i++], 0, none);
      }
    }
    for (std::size_t t = 0; t < values_.size(); ++t) {
      const spec::TensorInfo& info = system_.tensors[t];
      if (values_[t].dims != info.dims || values_[t].size() != count(info.dims)) {
        values_[t] = Array<T>(kind_of(info.dtype), info.dims);
      }
    }
    return std::move(values_);
  }

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::size_t count(const Dims& d) { return static_cast<std::size_t>(d.count()); }
  const FlatNode& at(std::int32_t n) const { return flat_.nodes[index(n)]; }
  std::int32_t arg(const FlatNode& n, std::int32_t i) const { return flat_.args[index(n.args.first + i)]; }

  void place_inputs(std::span<const Array<T>> inputs) {
    if (inputs.size() != system_.inputs.size()) {
      throw SpecViolation("evaluate: " + std::to_string(system_.inputs.size()) + " inputs expected, " +
                          std::to_string(inputs.size()) + " given");
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const spec::TensorInfo& info = system_[system_.inputs[i]];
      if (inputs[i].kind != kind_of(info.dtype) || inputs[i].dims != info.dims) {
        throw SpecViolation("evaluate: " + info.name + " is " + std::string(name_of(info.dtype)) +
                            to_string(info.dims) + ", given " + to_string(inputs[i].dims) +
                            (inputs[i].kind == kind_of(info.dtype) ? "" : " of another kind"));
      }
      check_range(info, inputs[i]);
      values_[index(system_.inputs[i])] = inputs[i];
    }
  }

  static void check_range(const spec::TensorInfo& info, const Array<T>& value) {
    if (!info.range) return;
    for (const std::int64_t v : value.integer) {
      if (v < info.range->first || v > info.range->second) {
        throw SpecViolation("evaluate: " + info.name + " is " + std::to_string(v) + ", promised in " +
                            std::to_string(info.range->first) + ".." + std::to_string(info.range->second));
      }
    }
  }

  // --- equations ---

  void allocate(spec::TensorId tensor) {
    Array<T>& target = values_[index(tensor)];
    const spec::TensorInfo& info = system_[tensor];
    if (target.size() == count(info.dims) && target.dims == info.dims) return;
    target = Array<T>(kind_of(info.dtype), info.dims);
  }

  void run_recurrence(const spec::Recurrence& r) {
    for (const auto& e : r.equations) allocate(flat_.equations[e.equation].target);
    for (std::int64_t n = 0; n < r.steps; ++n) {
      for (const auto& e : r.equations) {
        const FlatEquation& equation = flat_.equations[e.equation];
        const auto step = static_cast<std::int32_t>(e.binder);
        slots_[index(flat_.loops[index(equation.loops.first + step)].slot)] = r.backwards ? r.steps - 1 - n : n;
        run_loops(equation, 0, step);
      }
    }
  }

  static constexpr std::int32_t none = -1;

  /// The loops of an equation, except the one whose variable has its value already.
  void run_loops(const FlatEquation& e, std::int32_t depth, std::int32_t given) {
    if (depth == e.loops.count) return write(e);
    if (depth == given) return run_loops(e, depth + 1, given);
    const Loop& loop = flat_.loops[index(e.loops.first + depth)];
    for (std::int64_t i = 0; i < loop.extent; ++i) {
      slots_[index(loop.slot)] = i;
      run_loops(e, depth + 1, given);
    }
  }

  void write(const FlatEquation& e) {
    try {
      write_value(e);
    } catch (Undecided& question) {
      const spec::TensorInfo& info = system_[e.target];
      question.of(info.name + place_of(info.dims, offset(info, e.place)));
      throw;
    }
  }

  void write_value(const FlatEquation& e) {
    Array<T>& target = values_[index(e.target)];
    const spec::TensorInfo& info = system_[e.target];
    const std::size_t at_element = offset(info, e.place);
    const Kind kind = target.kind;
    if (kind == Kind::real) {
      target.real[at_element] = real(e.value);
    } else if (kind == Kind::boolean) {
      target.integer[at_element] = boolean(e.value) ? 1 : 0;
    } else {
      const std::int64_t v = integer(e.value);
      target.integer[at_element] = info.dtype == DType::i32 ? static_cast<std::int32_t>(v) : v;
    }
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

  std::size_t element(const FlatNode& n) { return offset(system_[n.payload], n.args); }

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
  std::vector<T> constants_;
  std::vector<Array<T>> values_;
};

template <class T>
std::vector<Array<T>> evaluate_all(const spec::System& system, std::span<const Array<T>> inputs) {
  return Evaluator<T>(system, inputs).run();
}

template <class T>
std::vector<Array<T>> evaluate(const spec::System& system, std::span<const Array<T>> inputs) {
  const std::vector<Array<T>> all = evaluate_all<T>(system, inputs);
  std::vector<Array<T>> outputs;
  for (const spec::TensorId t : system.outputs) outputs.push_back(all[static_cast<std::size_t>(t)]);
  return outputs;
}

}  // namespace etalon::reference
