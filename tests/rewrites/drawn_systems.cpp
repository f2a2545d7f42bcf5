#include "tests/rewrites/drawn_systems.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "spec/half.hpp"

namespace etalon::test {

using namespace etalon::spec;

namespace {

constexpr DType reals[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
/// Rows and columns; sums over 96 rows may be added up in passing.
constexpr std::int64_t rows = 96;
constexpr std::int64_t columns = 16;

/// Odd multiples of 2^-(bits + 1) near [-2, 2]. None is zero: a sum of one zero may be that zero or the positive one.
Expr on_grid(const Expr& e, int bits) {
  const Expr cut = apply(Primitive::minimum, {apply(Primitive::maximum, {e, decimal(-2)}), decimal(2)});
  return (apply(Primitive::floor, {cut * binary64(std::ldexp(1.0, bits))}) + decimal(5, -1)) * binary64(std::ldexp(1.0, -bits));
}
constexpr int coarse = 2;  ///< products of two such numbers add up exactly in single precision
constexpr int fine = 13;   ///< and of two such ones in double precision alone

class Drawing {
 public:
  Drawing(std::uint32_t seed, Sums sums) : random_(seed), sums_(sums) {}

  System draw() {
    for (const DType dtype : reals) {
      for (const Dims& dims : {Dims{rows, columns}, Dims{columns, rows}}) system_.inputs.push_back(add("x", dtype, dims));
    }
    system_.inputs.push_back(add("line", reals[below(4)], {3, 70}));
    system_.inputs.push_back(add("taps", reals[below(4)], {3, 8, 66}));
    const std::size_t motifs = 5 + below(5);
    for (std::size_t m = 0; m < motifs; ++m) motif();
    for (std::size_t e = 0; e < system_.equations.size(); ++e) {
      if (below(3) == 0 || e + 1 == system_.equations.size()) system_.outputs.push_back(system_.equations[e].target);
    }
    return std::move(system_);
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  DType any_real() { return reals[below(4)]; }

  TensorId add(const std::string& name, DType dtype, const Dims& dims) {
    return system_.add_tensor(name + std::to_string(system_.tensors.size()), dtype, dims);
  }

  /// y[i…] = value(i…)
  TensorId define(const std::string& name, DType dtype, const Dims& dims, const std::function<Expr(const std::vector<Expr>&)>& value) {
    std::vector<Binder> binders;
    for (const std::int64_t n : dims) binders.push_back(system_.bind("i", n));
    const Expr v = value(variables(binders));
    const TensorId t = add(name, dtype, dims);
    system_.define(t, binders, v);
    return t;
  }

  void motif() {
    switch (below(15)) {
      case 0: (void)matrix_product(); break;
      case 1: split_product(); break;
      case 2: window(); break;
      case 3: lifted(); break;
      case 4: wide(); break;
      case 5: normalised_rows(); break;
      case 6: (void)sum_of_rows(any_of({rows, columns})); break;
      case 7: beside_a_sum(); break;
      case 8: from_nothing(); break;
      case 9: truth(); break;
      case 10: repeated(); break;
      case 11: cut_at_zero(); break;
      case 12: long_expression(); break;
      default: chain(); break;
    }
  }

  /// A real tensor of these extents, a later one rather than an earlier one.
  TensorId any_of(const Dims& dims, std::optional<DType> dtype = {}) {
    std::vector<TensorId> fitting;
    for (std::size_t t = 0; t < system_.tensors.size(); ++t) {
      const TensorInfo& info = system_.tensors[t];
      if (info.dims == dims && kind_of(info.dtype) == Kind::real && (!dtype || info.dtype == *dtype)) fitting.push_back(static_cast<TensorId>(t));
    }
    if (fitting.empty()) {
      return define("c", dtype.value_or(any_real()), dims, [&](const std::vector<Expr>& at) { return constant() * (as_real(at[0]) + decimal(1, -1)); });
    }
    const auto back = std::min<std::size_t>(below(6), fitting.size() - 1);
    return fitting[fitting.size() - 1 - back];
  }

  Expr constant() { return decimal(1 + below(9), -1); }

  /// A read at the place, or at one that another kernel visits.
  Expr seen(TensorId t, const std::vector<Expr>& at, bool moved) {
    std::vector<Expr> place = at;
    if (moved) {
      const std::size_t axis = below(static_cast<std::uint32_t>(place.size()));
      place[axis] = integer(system_[t].dims[axis] - 1) - place[axis];
    }
    return system_.at(t, std::move(place));
  }

  Expr expression(const Dims& dims, const std::vector<Expr>& at, int depth) {
    if (depth == 0) return below(5) == 0 ? constant() : seen(any_of(dims), at, below(3) == 0);
    const auto part = [&] { return expression(dims, at, depth - 1); };
    switch (below(10)) {
      case 0: return part() + part();
      case 1: return part() - part();
      case 2: return apply(Primitive::maximum, {part(), constant()});
      case 3: return detach(part()) * constant();
      case 4: return select(apply(Primitive::lt, {part(), constant()}), part(), constant());
      case 5: return part() * constant() + constant() * constant();
      case 6: return (part() * decimal(1) + (decimal(5, -1) + decimal(25, -2))) * constant();
      case 7: return select(apply(Primitive::lt, {constant(), decimal(2)}), as_real(at[0]) * constant(), part()) * constant();
      default: return part() * constant();
    }
  }

  /// Values of each other, in types that change from one to the next.
  void chain() {
    const Dims dims = below(2) == 0 ? Dims{rows, columns} : below(2) == 0 ? Dims{columns, rows} : Dims{rows, rows};
    const std::size_t links = 2 + below(3);
    for (std::size_t l = 0; l < links; ++l) {
      const bool cast = below(4) == 0;
      (void)define("e", any_real(), dims, [&](const std::vector<Expr>& at) {
        return cast ? seen(any_of(dims), at, false) : expression(dims, at, 1 + static_cast<int>(below(2)));
      });
    }
  }

  /// Numbers of which sums are made. Of f32 and f64 alone where they are fine.
  TensorId factor(const Dims& dims, bool doubles) {
    const TensorId of = any_of(dims);
    const DType dtype = doubles ? (below(2) == 0 ? DType::f64 : DType::f32) : any_real();
    return define("g", dtype, dims, [&](const std::vector<Expr>& at) {
      const Expr value = seen(of, at, below(4) == 0);
      return sums_ == Sums::exact ? on_grid(value, doubles ? fine : coarse) : value * constant();
    });
  }

  Expr term(const Expr& e, bool doubles) { return sums_ == Sums::exact ? on_grid(e, doubles ? fine : coarse) : e; }

  Expr sum(const std::vector<Binder>& over, const Expr& body, const Expr& guard = boolean(true)) { return reduce(Reduction::sum, over, guard, body); }

  struct SumTypes {
    DType target = DType::f32;
    bool doubles = false;
  };
  SumTypes types() {
    const bool doubles = below(3) == 0;
    return {doubles ? DType::f64 : any_real(), doubles};
  }

  Expr guard(const Expr& k, const Expr& i) {
    switch (below(6)) {
      case 0: return apply(Primitive::le, {k, i});
      case 1: return apply(Primitive::eq, {k, i});
      default: return boolean(true);
    }
  }

  TensorId matrix_product() {
    const auto [target, doubles] = types();
    const bool tall = below(2) == 0;
    const Dims left = tall ? Dims{rows, columns} : Dims{columns, rows};
    const TensorId a = factor(left, doubles), b = factor(left, doubles);
    return define("p", target, {left[0], left[0]}, [&, doubled = doubles](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", left[1]);
      Expr f = system_.at(a, {at[0], variable(k)});
      if (below(3) == 0) f = term(seen(any_of(left), {at[0], variable(k)}, false), doubled);
      return sum({k}, f * system_.at(b, {at[1], variable(k)}), guard(variable(k), at[1]));
    });
  }

  void split_product() {
    const auto [target, doubles] = types();
    const Dims side{rows, columns};
    const TensorId a = factor(side, doubles), b = factor(side, doubles), c = factor(side, doubles), d = factor(side, doubles);
    (void)define("s", target, {rows, rows}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", columns);
      const auto of = [&](TensorId t, const Expr& i) { return system_.at(t, {i, variable(k)}); };
      return sum({k}, of(a, at[0]) * of(b, at[1]) + of(c, at[0]) * of(d, at[1]));
    });
  }

  /// y[o, i] = sum[c, t] w[o, c, t] x[c, i + t]
  void window() {
    const auto [target, doubles] = types();
    const TensorId x = factor({3, 70}, doubles);
    const TensorId w = factor({rows, columns}, doubles);
    (void)define("w", target, {rows, 66}, [&](const std::vector<Expr>& at) {
      const Binder c = system_.bind("c", 3), t = system_.bind("t", 5);
      return sum({c, t}, system_.at(w, {at[0], variable(c) * integer(5) + variable(t)}) * system_.at(x, {variable(c), at[1] + variable(t)}));
    });
  }

  /// y[t, o, c] = sum[n, i] d[n, o, i] x[n, c, i + t], the gradient of a convolution
  void lifted() {
    const auto [target, doubles] = types();
    const TensorId d = factor({3, 8, 66}, doubles);
    const TensorId x = define("g", doubles ? DType::f64 : any_real(), {3, columns, 70}, [&, wide = doubles](const std::vector<Expr>& at) {
      const Expr value = system_.at(any_of({columns, rows}), {at[1], at[2]}) * (as_real(at[0]) + constant());
      return term(value, wide);
    });
    (void)define("l", target, {3, 8, columns}, [&](const std::vector<Expr>& at) {
      const Binder n = system_.bind("n", 3), i = system_.bind("i", 66);
      return sum({n, i}, system_.at(d, {variable(n), at[1], variable(i)}) * system_.at(x, {variable(n), at[2], variable(i) + at[0]}));
    });
  }

  /// Scores of rows with rows, what is computed of them element by element, and sums and products over them.
  void wide() {
    const TensorId scores = matrix_product_of_rows();
    TensorId last = scores;
    const std::size_t links = 1 + below(4);
    for (std::size_t l = 0; l < links; ++l) {
      const TensorId before = last;
      const TensorId first = below(3) == 0 ? scores : before;
      last = define("m", any_real(), {rows, rows}, [&](const std::vector<Expr>& at) {
        const Expr a = system_.at(before, at), b = system_.at(first, at);
        switch (below(4)) {
          case 0: return a * constant();
          case 1: return select(apply(Primitive::le, {at[1], at[0]}), a, constant());
          case 2: return a + b * constant();
          default: return a;
        }
      });
      if (below(2) == 0) (void)sum_of_rows(before);
    }
    (void)sum_of_rows(last);
    if (below(2) == 0) {
      (void)define("m", any_real(), {rows}, [&](const std::vector<Expr>& at) {
        const Binder k = system_.bind("k", rows);
        return reduce(Reduction::max, {k}, boolean(true), system_.at(last, {at[0], variable(k)}), decimal(0));
      });
    }
  }

  TensorId matrix_product_of_rows() {
    const auto [target, doubles] = types();
    const TensorId a = factor({rows, columns}, doubles), b = factor({rows, columns}, doubles);
    return define("p", target, {rows, rows}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", columns);
      return sum({k}, system_.at(a, {at[0], variable(k)}) * system_.at(b, {at[1], variable(k)}));
    });
  }

  /// y[i] = sum[k] of a row, or of a column.
  TensorId sum_of_rows(const Dims& dims) { return sum_of_rows(any_of(dims)); }
  TensorId sum_of_rows(TensorId t) {
    const Dims dims = system_[t].dims;
    // Doubles alone are added up in double precision, whatever becomes of their sum.
    const bool doubles = below(2) == 0 && system_[t].dtype == DType::f64;
    const DType target = doubles && below(2) == 0 ? DType::f64 : doubles ? DType::f32 : any_real();
    const std::size_t along = below(2);
    return define("r", target, {dims[along]}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", dims[1 - along]);
      const Expr value = along == 0 ? system_.at(t, {at[0], variable(k)}) : system_.at(t, {variable(k), at[0]});
      return sum({k}, term(value, doubles), guard(variable(k), at[0]));
    });
  }
  TensorId any_of(std::initializer_list<std::int64_t> dims) { return any_of(Dims(dims)); }

  /// Rows that are scaled by what is computed of them, and sums of their columns.
  void normalised_rows() {
    const TensorId x = any_of({rows, columns});
    const TensorId r = define("r", any_real(), {rows}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", columns);
      return sum({k}, term(system_.at(x, {at[0], variable(k)}), false));
    });
    const TensorId y = define("n", any_real(), {rows, columns}, [&](const std::vector<Expr>& at) {
      return system_.at(x, at) * constant() - system_.at(r, {at[0]}) * decimal(1, -1);
    });
    const auto doubles = system_[y].dtype == DType::f64 && system_[x].dtype == DType::f64;
    (void)define("c", doubles ? DType::f32 : any_real(), {columns}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", rows);
      return sum({k}, term(system_.at(y, {variable(k), at[0]}) * (below(2) == 0 ? system_.at(x, {variable(k), at[0]}) : constant()), doubles));
    });
  }

  /// A sum that is part of a larger expression.
  void beside_a_sum() {
    const bool doubles = below(2) == 0;
    const TensorId x = any_of({rows, columns}, doubles ? std::optional(DType::f64) : std::nullopt);
    const bool wide = doubles || system_[x].dtype == DType::f64;
    (void)define("b", any_real(), {rows, columns}, [&](const std::vector<Expr>& at) {
      const Binder k = system_.bind("k", columns);
      const Expr all = sum({k}, term(system_.at(x, {at[0], variable(k)}), false));
      const Expr own = wide && below(2) == 0 ? system_.at(x, at) : expression({rows, columns}, at, 1);
      return all * constant() * own;
    });
  }

  /// Values of indices and constants, of which others are made.
  void from_nothing() {
    const DType dtype = below(2) == 0 ? DType::f32 : any_real();
    const TensorId t = define("z", dtype, {rows, columns}, [&](const std::vector<Expr>& at) { return (as_real(at[0]) + constant()) * decimal(1, -1); });
    (void)define("e", any_real(), {rows, columns}, [&](const std::vector<Expr>& at) {
      const Expr scaled = system_.at(t, at) * constant();
      return below(2) == 0 ? scaled : scaled * system_.at(any_of({rows, columns}), at);
    });
  }

  /// Truth values and integers that depend on reals, read by reals.
  void truth() {
    const Dims dims{rows, columns};
    const TensorId t = define("t", DType::boolean, dims, [&](const std::vector<Expr>& at) { return apply(Primitive::lt, {expression(dims, at, 1), expression(dims, at, 1)}); });
    const TensorId n = define("n", DType::i32, dims, [&](const std::vector<Expr>& at) {
      const Expr value = term(expression(dims, at, 1), false) * decimal(10);
      return apply(Primitive::to_integer, {value}) + apply(Primitive::to_integer, {system_.at(t, at)});
    });
    (void)define("e", any_real(), dims, [&](const std::vector<Expr>& at) {
      return select(system_.at(t, at), expression(dims, at, 1), as_real(system_.at(n, at)) * constant());
    });
  }

  /// An equation again, perhaps in another type.
  void repeated() {
    if (system_.equations.empty()) return chain();
    const Equation original = system_.equations[below(static_cast<std::uint32_t>(system_.equations.size()))];
    const TensorInfo tensor = system_[original.target];
    if (kind_of(tensor.dtype) != Kind::real || tensor.dims.rank != 2) return chain();
    // A sum of doubles stays one: its terms are too fine for single precision.
    const bool sums = [&] {
      bool found = false;
      for_each(original.value, [&](const Expr& e) { found = found || e.form() == Form::reduce; });
      return found;
    }();
    const DType dtype = below(2) == 0 || sums ? tensor.dtype : any_real();
    (void)define("a", dtype, tensor.dims, [&](const std::vector<Expr>& at) {
      Substitution by;
      for (std::size_t b = 0; b < at.size(); ++b) by.emplace(original.binders[b].variable, at[b]);
      return refresh(system_, substitute(original.value, by));
    });
  }

  /// What is cut off at zero, and others that ask whether it was.
  void cut_at_zero() {
    const Dims dims{rows, columns};
    const DType dtype = any_real();
    const TensorId h = define("h", dtype, dims, [&](const std::vector<Expr>& at) { return expression(dims, at, 1); });
    const auto below_zero = [&](const std::vector<Expr>& at) { return apply(Primitive::le, {system_.at(h, at), decimal(0)}); };
    (void)define("y", below(3) == 0 ? any_real() : dtype, dims, [&](const std::vector<Expr>& at) { return select(below_zero(at), decimal(0), system_.at(h, at)); });
    (void)define("d", any_real(), dims, [&](const std::vector<Expr>& at) { return select(below_zero(at), decimal(0), expression(dims, at, 1)); });
  }

  /// A sum that is written out, as gradients with many contributions are.
  void long_expression() {
    const Dims dims{columns, rows};
    const TensorId other = any_of(dims);
    (void)define("o", any_real(), dims, [&](const std::vector<Expr>& at) {
      Expr all = constant() * as_real(at[0]);
      for (int term = 0; term < 70; ++term) all = all * decimal(9, -1) + system_.at(term % 3 == 0 ? other : any_of(dims), at) * constant() * constant();
      return all;
    });
  }

  std::mt19937 random_;
  Sums sums_;
  System system_;
};

/// The bits of an element; of a NaN always the same ones.
std::uint64_t bits_at(const HostTensor& t, std::size_t i) {
  constexpr std::uint64_t nan = ~std::uint64_t{0};
  switch (t.dtype) {
    case DType::f16:
    case DType::bf16: {
      const std::uint16_t bits = t.view<std::uint16_t>()[i];
      return std::isnan(half_value(bits, t.dtype)) ? nan : bits;
    }
    case DType::f32: {
      const float x = t.view<float>()[i];
      return std::isnan(x) ? nan : std::bit_cast<std::uint32_t>(x);
    }
    case DType::f64: {
      const double x = t.view<double>()[i];
      return std::isnan(x) ? nan : std::bit_cast<std::uint64_t>(x);
    }
    case DType::i32: return static_cast<std::uint32_t>(t.view<std::int32_t>()[i]);
    case DType::i64: return static_cast<std::uint64_t>(t.view<std::int64_t>()[i]);
    case DType::boolean: return t.view<std::uint8_t>()[i];
  }
  return nan;
}

}  // namespace

System drawn_system(std::uint32_t seed, Sums sums) { return Drawing(seed, sums).draw(); }

std::vector<HostTensor> drawn_inputs(const System& system, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<HostTensor> inputs;
  for (const TensorId id : system.inputs) {
    HostTensor t(system[id].dtype, system[id].dims);
    const auto count = static_cast<std::size_t>(t.dims.count());
    for (std::size_t i = 0; i < count; ++i) {
      const double size = static_cast<double>(1 + random() % 0x3fffffff) / 0x20000000;
      const double x = random() % 2 == 0 ? size : -size;
      if (t.dtype == DType::f64) t.view<double>()[i] = x;
      else if (t.dtype == DType::f32) t.view<float>()[i] = static_cast<float>(x);
      else t.view<std::uint16_t>()[i] = nearest_half(x, t.dtype);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].dtype != b[t].dtype || !(a[t].dims == b[t].dims)) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a[t].dims.count()); ++i) {
      if (bits_at(a[t], i) != bits_at(b[t], i)) return false;
    }
  }
  return true;
}

}  // namespace etalon::test
