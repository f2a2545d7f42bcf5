#include "conformance/measure/policies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "conformance/measure/points.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

using spec::Primitive;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Questions {
 public:
  Questions(spec::Backend& backend, const spec::Library& library) : backend_(backend), library_(library) {}

  Policies ask_all() {
    for (const DType dtype : {DType::f32, DType::f64}) ask_flushing(dtype);
    ask_operands();
    for (const DType dtype : {DType::f32, DType::f64}) ask_accumulation(dtype);
    ask_halves();
    ask_ties();
    ask_nan();
    ask_division();
    return std::move(found_);
  }

 private:
  void note(std::string what, std::string answer) { found_.findings.push_back({std::move(what), std::move(answer)}); }

  /// p(x, z) for one pair.
  std::optional<double> apply(Primitive p, DType dtype, double x, double z) {
    const auto probe = bare_primitive(library_, p, dtype);
    if (!probe) return std::nullopt;
    const std::array xs{x}, zs{z};
    const auto y = ask(backend_, *probe, {tensor_of(dtype, {1}, xs), tensor_of(dtype, {1}, zs)});
    return y ? std::optional(element(*y, 0)) : std::nullopt;
  }

  void ask_flushing(DType dtype) {
    const spec::Format f = spec::format_of(dtype);
    const double tau = std::ldexp(1.0, f.emin);
    const auto small = [&](int exponent) { return std::ldexp(1.0, f.emin - exponent); };
    int results = 0, operands = 0, asked = 0;
    const auto expect = [&](std::optional<double> got, double exact, double flushed, int& count) {
      if (!got) return;
      ++asked;
      if (*got != exact && *got == flushed) ++count;
    };
    const double half = std::ldexp(1.0, f.emin / 2);
    expect(apply(Primitive::mul, dtype, half, std::ldexp(half, -8)), std::ldexp(half * half, -8), 0, results);
    expect(apply(Primitive::sub, dtype, 1.5 * tau, tau), 0.5 * tau, 0, results);
    expect(apply(Primitive::div, dtype, tau, 8), tau / 8, 0, results);
    expect(apply(Primitive::mul, dtype, small(8), 0x1p20), std::ldexp(small(8), 20), 0, operands);
    expect(apply(Primitive::add, dtype, tau, small(8)), tau + small(8), tau, operands);
    found_.flush_results = found_.flush_results || results > 0;
    found_.flush_operands = found_.flush_operands || operands > 0;
    note(fmt::format("subnormals of {}", name_of(dtype)),
         fmt::format("{} of {} questions lost a subnormal result, {} a subnormal operand", results, asked, operands));
  }

  /// One contraction of m x k by k x m whose first column and row alone are not zero.
  std::optional<std::vector<double>> products(std::span<const double> column, double factor, std::size_t size, bool left) {
    const auto probe = bare_contraction(library_, DType::f32);
    if (!probe) return std::nullopt;
    const std::size_t rows = column.size();
    std::vector<double> a(rows * size), b(size * rows);
    for (std::size_t r = 0; r < rows; ++r) {
      a[r * size] = left ? column[r] : factor;
      b[r] = left ? factor : column[r];
    }
    const auto m = static_cast<std::int64_t>(rows), k = static_cast<std::int64_t>(size);
    const auto y = ask(backend_, *probe, {tensor_of(DType::f32, {m, k}, a), tensor_of(DType::f32, {k, m}, b)});
    if (!y || y->dims.count() != m * m) return std::nullopt;
    std::vector<double> got(rows);
    for (std::size_t r = 0; r < rows; ++r) got[r] = element(*y, left ? r * rows : r);
    return got;
  }

  /// 1 + 2^-q has q + 1 bits; the least q at which it does not survive is the precision of operands.
  void ask_operands() {
    constexpr int most = 23;
    int precision = 0, asked = 0;
    for (const std::size_t size : {std::size_t{1}, std::size_t{16}, std::size_t{128}}) {
      for (const bool left : {true, false}) {
        std::vector<double> column;
        for (int i = 0; i < 32; ++i) column.push_back(1 + std::ldexp(1.0, -std::min(i + 1, most)));
        const auto got = products(column, 1, size, left);
        if (!got) continue;
        ++asked;
        for (int q = most; q >= 1; --q) {
          if ((*got)[static_cast<std::size_t>(q - 1)] != column[static_cast<std::size_t>(q - 1)]) precision = precision == 0 ? q : std::min(precision, q);
        }
        if (precision > 0) ask_operand_rounding(precision, size, left);
      }
    }
    found_.product_operand_precision = precision;
    note("operands of contractions in f32", asked == 0        ? "not asked: no contraction"
                                            : precision == 0 ? "keep all their bits"
                                                             : fmt::format("have {} bits", precision));
  }

  void ask_operand_rounding(int precision, std::size_t size, bool left) {
    const std::vector<double> column(32, 1 + 3 * std::ldexp(1.0, -(precision + 1)));
    const auto got = products(column, 1, size, left);
    if (got && (*got)[0] < column[0]) found_.product_operand_rounding = spec::RoundingMode::toward_zero;
  }

  /// Sums and contractions of a few terms among zeros, in every order.
  std::vector<double> sums(DType dtype, std::vector<double> terms, std::int64_t length) {
    std::vector<double> results;
    const auto sum = bare_reduction(library_, spec::Reduction::sum, dtype);
    const auto product = bare_contraction(library_, dtype);
    std::sort(terms.begin(), terms.end());
    do {
      std::vector<double> row(static_cast<std::size_t>(length));
      std::copy(terms.begin(), terms.end(), row.begin());
      const std::vector<double> ones(row.size(), 1.0);
      if (sum) {
        if (const auto y = ask(backend_, *sum, {tensor_of(dtype, {1, length}, row)})) results.push_back(element(*y, 0));
      }
      if (!product) continue;
      if (const auto y = ask(backend_, *product, {tensor_of(dtype, {1, length}, row), tensor_of(dtype, {length, 1}, ones)})) {
        results.push_back(element(*y, 0));
      }
    } while (std::next_permutation(terms.begin(), terms.end()));
    return results;
  }

  void ask_accumulation(DType dtype) {
    const int p = spec::format_of(dtype).precision;
    const double large = std::ldexp(1.0, p - 1);
    int lost = 0, cut = 0;
    std::size_t asked = 0;
    for (const std::int64_t length : {3, 128}) {
      const auto whole = sums(dtype, {large, 1, -large}, length);
      for (const double y : whole) lost += y != 1;
      const auto rounded = sums(dtype, {1, 0.75 * std::ldexp(1.0, 1 - p)}, length);
      for (const double y : rounded) cut += y == 1;
      asked += whole.size() + rounded.size();
    }
    if (cut > 0) found_.accumulation = spec::RoundingMode::toward_zero;
    note(fmt::format("sums in {}", name_of(dtype)), fmt::format("{} of {} were cut off instead of rounded, {} were added in fewer bits", cut, asked, lost));
    if (lost > 0) {
      found_.defects.push_back(fmt::format("sums in {}: {} + 1 - {} is not 1 in some order: added in fewer bits than the type has, which no contract allows",
                                           name_of(dtype), large, large));
    }
  }

  void ask_halves() {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const double large = std::ldexp(1.0, spec::format_of(dtype).precision);
      int lost = 0;
      std::size_t asked = 0;
      for (const std::int64_t length : {3, 128}) {
        const auto whole = sums(dtype, {large, 1, -large}, length);
        for (const double y : whole) lost += y != 1;
        asked += whole.size();
      }
      (dtype == DType::f16 ? found_.f16_accumulators : found_.bf16_accumulators) = lost > 0;
      note(fmt::format("sums of {}", name_of(dtype)), asked == 0 ? "not offered" : lost > 0 ? "added in 16 bits" : "added in f32");
    }
  }

  void ask_ties() {
    const std::vector<double> row{2, 1, 2, 2};
    for (const auto reduction : {spec::Reduction::max, spec::Reduction::min}) {
      const auto probe = bare_reduction(library_, reduction, DType::f32);
      if (!probe) continue;
      std::vector<double> x = row;
      if (reduction == spec::Reduction::min) std::transform(x.begin(), x.end(), x.begin(), [](double v) { return -v; });
      const std::array one{1.0};
      const auto got = ask(backend_, *probe, {tensor_of(DType::f32, {1, 4}, x)}, tensor_of(DType::f32, {1}, one));
      const std::string what = fmt::format("derivative of {} at ties", name_of(reduction));
      if (!got || got->dims.count() != 4) {
        note(what, "not offered");
        continue;
      }
      const std::vector<double> d = doubles_of(*got);
      if (d == std::vector<double>{1, 0, 0, 0}) note(what, "first");
      else if (d == std::vector<double>{0, 0, 0, 1}) tie(what, spec::TiePolicy::last, "last");
      else if (d[0] == d[2] && d[2] == d[3] && d[1] == 0 && std::fabs(3 * d[0] - 1) < 0x1p-20) tie(what, spec::TiePolicy::even, "even");
      else found_.defects.push_back(what + fmt::format(": of 2, 1, 2, 2 it is {}, {}, {}, {}: neither the first's, nor the last's, nor shared", d[0], d[1], d[2], d[3]));
    }
  }

  void tie(const std::string& what, spec::TiePolicy policy, const char* name) {
    found_.ties = policy;
    note(what, name);
  }

  void ask_nan() {
    int passed = 0, dropped = 0;
    const auto look = [&](const std::optional<HostTensor>& y, double other) {
      if (!y) return;
      for (const double v : doubles_of(*y)) (std::isnan(v) ? passed : dropped) += std::isnan(v) || v == other ? 1 : 0;
    };
    for (const auto reduction : {spec::Reduction::max, spec::Reduction::min}) {
      for (const bool last : {true, false}) {
        const auto probe = bare_reduction(library_, reduction, DType::f32, last);
        if (!probe) continue;
        for (const std::size_t length : {std::size_t{2}, std::size_t{100}}) {
          for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
            std::vector<double> x(length, 2.0);
            x[at] = nan;
            const auto n = static_cast<std::int64_t>(length);
            look(ask(backend_, *probe, {tensor_of(DType::f32, last ? Dims{1, n} : Dims{n, 1}, x)}), 2);
          }
        }
      }
    }
    for (const Primitive p : {Primitive::maximum, Primitive::minimum}) {
      const auto probe = bare_primitive(library_, p, DType::f32);
      if (!probe) continue;
      const std::vector<double> x{nan, 2}, z{2, nan};
      look(ask(backend_, *probe, {tensor_of(DType::f32, {2}, x), tensor_of(DType::f32, {2}, z)}), 2);
    }
    if (passed > 0 && dropped == 0) found_.nan_of_extrema = spec::NanPolicy::propagate;
    if (dropped > 0 && passed == 0) found_.nan_of_extrema = spec::NanPolicy::ignore;
    note("extrema with a NaN among the operands", fmt::format("{} were NaN, {} that of the others", passed, dropped));
  }

  /// Whether every quotient that is not the nearest one is a*(1/b).
  void ask_division() {
    const auto probe = bare_primitive(library_, Primitive::div, DType::f32);
    if (!probe) return;
    const Columns points = sample_points(Primitive::div, DType::f32, 20000, 7);
    const auto n = static_cast<std::int64_t>(points[0].size());
    const auto y = ask(backend_, *probe, {tensor_of(DType::f32, {n}, points[0]), tensor_of(DType::f32, {n}, points[1])});
    if (!y || y->dims.count() != n) return;
    int by_reciprocal = 0, otherwise = 0;
    for (std::size_t i = 0; i < points[0].size(); ++i) {
      const auto a = static_cast<float>(points[0][i]), b = static_cast<float>(points[1][i]);
      const float nearest = a / b;
      const auto got = static_cast<float>(element(*y, i));
      if (got == nearest || std::isnan(nearest) || std::fpclassify(nearest) == FP_SUBNORMAL) continue;
      if (std::fpclassify(a) == FP_SUBNORMAL || std::fpclassify(b) == FP_SUBNORMAL) continue;
      const float inverse = 1 / b;
      const bool same = got == a * inverse || (found_.flush_results && std::fpclassify(inverse) == FP_SUBNORMAL && got == 0);
      ++(same ? by_reciprocal : otherwise);
    }
    found_.reciprocal_division = by_reciprocal > 0 && otherwise == 0;
    note("quotients in f32", fmt::format("{} of {} are not the nearest number but a*(1/b), {} are neither", by_reciprocal, n, otherwise));
  }

  spec::Backend& backend_;
  const spec::Library& library_;
  Policies found_;
};

}  // namespace

Policies measure_policies(spec::Backend& backend, const spec::Library& library) { return Questions(backend, library).ask_all(); }

}  // namespace etalon::conformance
