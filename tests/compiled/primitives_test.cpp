// Every primitive of the compiled backend against independently computed values.
#include <catch2/catch.hpp>

#include <functional>

#include "spec/contract/contract.hpp"
#include "spec/philox.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// 37 elements: two full vectors and a part in f32.
std::vector<double> probes() {
  std::vector<double> v{0.0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 0.1, -0.1, 1e-3, -1e-3, 3.7, -3.7, 10, -10,
                        50, -50, 87, -87, 1e-30, -1e-30, 1e30, -1e30, inf, -inf, not_a_number};
  for (int i = 0; v.size() < 37; ++i) v.push_back(0.37 * i - 1.1);
  return v;
}

System unary(DType dtype, std::int64_t n, DType result, const std::function<Expr(const Expr&)>& f) {
  System s;
  const TensorId x = input(s, "x", dtype, {n});
  const TensorId y = output(s, "y", result, {n});
  const auto binders = s.bind_all(y);
  s.define(y, binders, f(s.at(x, spec::variables(binders))));
  return s;
}

System binary(DType dtype, std::int64_t n, DType result, Primitive p) {
  System s;
  const TensorId a = input(s, "a", dtype, {n});
  const TensorId b = input(s, "b", dtype, {n});
  const TensorId y = output(s, "y", result, {n});
  const auto binders = s.bind_all(y);
  s.define(y, binders, apply(p, {s.at(a, spec::variables(binders)), s.at(b, spec::variables(binders))}));
  return s;
}

/// Distance in units in the last place of the exact value, in the given precision.
double ulps(double got, double exact, int precision) {
  if (same_number(got, exact)) return 0;
  if (!std::isfinite(got) || !std::isfinite(exact)) return inf;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int least = precision == 24 ? -125 : -1021;
  return std::abs(got - exact) / std::ldexp(1.0, std::max(exponent, least) - precision);
}

struct Function {
  Primitive primitive;
  long double (*exact)(long double);
};

}  // namespace

TEST_CASE("functions are within their ulp in both types", "[compiled][primitives]") {
  const std::vector<Function> functions{{Primitive::exp, std::exp}, {Primitive::log, std::log},
                                        {Primitive::sin, std::sin}, {Primitive::cos, std::cos},
                                        {Primitive::tanh, std::tanh}, {Primitive::erf, std::erf},
                                        {Primitive::expm1, std::expm1}, {Primitive::log1p, std::log1p},
                                        {Primitive::exp2, std::exp2}, {Primitive::log2, std::log2},
                                        {Primitive::sinh, std::sinh}, {Primitive::cosh, std::cosh},
                                        {Primitive::tan, std::tan}};
  const spec::Contract contract = spec::contract_named("cpu");
  for (const Function& f : functions) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto n = static_cast<std::int64_t>(probes().size());
      const System s = unary(dtype, n, dtype, [&](const Expr& x) { return apply(f.primitive, {x}); });
      const HostTensor x = real_tensor(dtype, {n}, probes());
      const HostTensor y = compiled_values(s, {x})[0];
      for (std::size_t i = 0; i < probes().size(); ++i) {
        const auto exact = static_cast<double>(f.exact(static_cast<long double>(at(x, i))));
        // Halfway to the number that would follow the largest one, f32 has infinities.
        const double want = dtype == DType::f32 && std::abs(exact) >= 0x1.ffffffp127 ? std::copysign(inf, exact) : exact;
        INFO(spec::info(f.primitive).name << " " << name_of(dtype) << " at " << at(x, i) << " got " << at(y, i) << " want " << want);
        const double allowed = spec::function_bound(contract, dtype, f.primitive).k0;
        CHECK(ulps(at(y, i), want, dtype == DType::f32 ? 24 : 53) <= allowed + (dtype == DType::f64 ? 0.5 : 0));
      }
    }
  }
}

TEST_CASE("functions reach as far as their results do", "[compiled][primitives]") {
  struct Row {
    Primitive primitive;
    long double (*exact)(long double);
    std::vector<double> narrow, wide;
  };
  const std::vector<double> log_of_largest{88, 88.5, 88.75, 89.25, 89.4}, log_of_largest_double{709, 709.5, 710, 710.25, 710.47};
  const std::vector<Row> rows{{Primitive::sinh, std::sinh, log_of_largest, log_of_largest_double},
                              {Primitive::cosh, std::cosh, log_of_largest, log_of_largest_double},
                              {Primitive::exp, std::exp, {88, 88.5, 88.7, 88.72, 88.722}, {709.5, 709.78271049, 709.7827111, 709.7827112, 709.78271289}},
                              {Primitive::log1p, std::log1p, {1e29, 1e31, 1e37, 2e38, 3.4e38}, {1e29, 1e31, 1e306, 2e307, 1.7e308}}};
  const spec::Contract contract = spec::contract_named("cpu");
  for (const Row& row : rows) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const HostTensor x = real_tensor(dtype, {5}, dtype == DType::f32 ? row.narrow : row.wide);
      const HostTensor y = compiled_values(unary(dtype, 5, dtype, [&](const Expr& e) { return apply(row.primitive, {e}); }), {x})[0];
      for (std::size_t i = 0; i < 5; ++i) {
        const auto exact = static_cast<double>(row.exact(static_cast<long double>(at(x, i))));
        INFO(spec::info(row.primitive).name << " " << name_of(dtype) << " at " << at(x, i) << " got " << at(y, i) << " want " << exact);
        const double allowed = spec::function_bound(contract, dtype, row.primitive).k0;
        CHECK(ulps(at(y, i), exact, dtype == DType::f32 ? 24 : 53) <= allowed + (dtype == DType::f64 ? 0.5 : 0));
      }
    }
  }
  const HostTensor beyond = real_tensor(DType::f32, {2}, {89.5, -89.5});
  const HostTensor y = compiled_values(unary(DType::f32, 2, DType::f32, [](const Expr& e) { return apply(Primitive::sinh, {e}); }), {beyond})[0];
  CHECK(at(y, 0) == inf);
  CHECK(at(y, 1) == -inf);
}

TEST_CASE("powers reach as far as their results do", "[compiled][primitives]") {
  // e^709.7827125 lies beyond the library's last power and below the largest number; the values are mpmath's.
  struct Row {
    double base, exponent, power;
  };
  const std::vector<Row> rows{{3, 0x1.43093980525edp+9, 0x1.fffff2ccdba04p+1023},
                              {1.5, 0x1.b5a2882c6d8a7p+10, 0x1.fffff2ccdb851p+1023},
                              {0x1.19d11a6bbace3p+10, 101, 0x1.fffff2ccdb9f7p+1023},
                              {-0x1.19d11a6bbace3p+10, 101, -0x1.fffff2ccdb9f7p+1023},
                              {3, 646.1, inf}, {-5, 443, -inf}, {0, -1, inf}, {-inf, 3, -inf}, {inf, 0.5, inf}, {0.5, -inf, inf}, {0, -0x1p-1074, inf}, {-inf, 0x1p-1074, inf}};
  std::vector<double> bases, exponents;
  for (const Row& row : rows) {
    bases.push_back(row.base);
    exponents.push_back(row.exponent);
  }
  const auto n = static_cast<std::int64_t>(rows.size());
  const HostTensor y = compiled_values(binary(DType::f64, n, DType::f64, Primitive::pow),
                                       {real_tensor(DType::f64, {n}, bases), real_tensor(DType::f64, {n}, exponents)})[0];
  const double allowed = spec::function_bound(spec::contract_named("cpu"), DType::f64, Primitive::pow).k0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].base << " ^ " << rows[i].exponent << " got " << at(y, i) << " want " << rows[i].power);
    CHECK(ulps(at(y, i), rows[i].power, 53) <= allowed + 0.5);
  }
}

TEST_CASE("an element's bits do not depend on its position", "[compiled][primitives]") {
  for (const Primitive p : {Primitive::exp, Primitive::log, Primitive::sin, Primitive::cos, Primitive::tanh,
                            Primitive::erf, Primitive::expm1, Primitive::log1p, Primitive::exp2, Primitive::log2,
                            Primitive::tan, Primitive::sinh, Primitive::cosh}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto f = [&](const Expr& x) { return apply(p, {x}); };
      const HostTensor x = real_tensor(dtype, {37}, probes());
      const HostTensor all = compiled_values(unary(dtype, 37, dtype, f), {x})[0];
      const compiled::Executable one = compiled::compile_system(unary(dtype, 1, dtype, f), options());
      for (std::size_t i = 0; i < 37; ++i) {
        HostTensor single(dtype, {1});
        std::memcpy(single.bytes.data(), x.bytes.data() + i * size_of(dtype), size_of(dtype));
        const HostTensor alone = one.run(std::vector{single})[0];
        INFO(spec::info(p).name << " " << name_of(dtype) << " at " << at(x, i));
        CHECK((std::isnan(at(alone, 0)) ? std::isnan(at(all, i))
                                        : std::memcmp(alone.bytes.data(), all.bytes.data() + i * size_of(dtype), size_of(dtype)) == 0));
      }
    }
  }
}

TEST_CASE("exact and correctly rounded real primitives", "[compiled][primitives]") {
  const std::vector<std::pair<Primitive, float (*)(float)>> rows{
      {Primitive::neg, [](float v) { return -v; }},
      {Primitive::abs, [](float v) { return std::fabs(v); }},
      {Primitive::sqrt, [](float v) { return std::sqrt(v); }},
      {Primitive::floor, [](float v) { return std::floor(v); }},
      {Primitive::ceil, [](float v) { return std::ceil(v); }},
      {Primitive::trunc, [](float v) { return std::trunc(v); }},
      {Primitive::round, [](float v) { return std::nearbyint(v); }},
      {Primitive::sign, [](float v) { return v > 0 ? 1.0F : (v < 0 ? -1.0F : v); }}};
  const HostTensor x = real_tensor(DType::f32, {37}, probes());
  for (const auto& [p, f] : rows) {
    const System s = unary(DType::f32, 37, DType::f32, [&, primitive = p](const Expr& e) { return apply(primitive, {e}); });
    const HostTensor y = compiled_values(s, {x})[0];
    for (std::size_t i = 0; i < 37; ++i) {
      INFO(spec::info(p).name << " at " << at(x, i));
      CHECK(same_number(at(y, i), static_cast<double>(f(x.view<float>()[i]))));
    }
  }
}

TEST_CASE("binary real primitives, special values included", "[compiled][primitives]") {
  std::vector<double> b = probes();
  std::rotate(b.begin(), b.begin() + 11, b.end());
  const HostTensor x = real_tensor(DType::f32, {37}, probes());
  const HostTensor z = real_tensor(DType::f32, {37}, b);
  const std::vector<std::pair<Primitive, float (*)(float, float)>> rows{
      {Primitive::add, [](float u, float v) { return u + v; }},
      {Primitive::sub, [](float u, float v) { return u - v; }},
      {Primitive::mul, [](float u, float v) { return u * v; }},
      {Primitive::div, [](float u, float v) { return u / v; }},
      {Primitive::modulo, [](float u, float v) {
         const float r = std::fmod(u, v);
         return r != 0 && std::signbit(r) != std::signbit(v) ? r + v : r;
       }},
      {Primitive::maximum, [](float u, float v) { return std::isnan(u) || std::isnan(v) ? NAN : std::fmax(u, v); }},
      {Primitive::minimum, [](float u, float v) { return std::isnan(u) || std::isnan(v) ? NAN : std::fmin(u, v); }}};
  for (const auto& [p, f] : rows) {
    const HostTensor y = compiled_values(binary(DType::f32, 37, DType::f32, p), {x, z})[0];
    for (std::size_t i = 0; i < 37; ++i) {
      INFO(spec::info(p).name << " at " << at(x, i) << ", " << at(z, i));
      CHECK(same_number(at(y, i), static_cast<double>(f(x.view<float>()[i], z.view<float>()[i]))));
    }
  }
}

TEST_CASE("a real as an integer: towards 0, the nearest end, NaN as 0", "[compiled][primitives]") {
  const std::vector<double> values{1.9, -1.9, 0.5, -0.5, 1e30, -1e30, inf, -inf, not_a_number, 4e9, -4e9};
  const auto n = static_cast<std::int64_t>(values.size());
  for (const DType dtype : {DType::f32, DType::f64}) {
    const System s = unary(dtype, n, DType::i64, [](const Expr& e) { return apply(Primitive::to_integer, {e}); });
    const HostTensor y = compiled_values(s, {real_tensor(dtype, {n}, values)})[0];
    const std::vector<std::int64_t> want{1, -1, 0, 0, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0, 4000000000, -4000000000};
    for (std::size_t i = 0; i < want.size(); ++i) CHECK(y.view<std::int64_t>()[i] == want[i]);
  }
}

TEST_CASE("comparisons with NaN are as IEEE says", "[compiled][primitives]") {
  const HostTensor a = real_tensor(DType::f64, {5}, {1, not_a_number, not_a_number, 2, -0.0});
  const HostTensor b = real_tensor(DType::f64, {5}, {not_a_number, not_a_number, 1, 2, 0.0});
  const std::vector<std::pair<Primitive, std::vector<int>>> rows{
      {Primitive::eq, {0, 0, 0, 1, 1}}, {Primitive::ne, {1, 1, 1, 0, 0}}, {Primitive::lt, {0, 0, 0, 0, 0}},
      {Primitive::le, {0, 0, 0, 1, 1}}, {Primitive::gt, {0, 0, 0, 0, 0}}, {Primitive::ge, {0, 0, 0, 1, 1}}};
  for (const auto& [p, want] : rows) {
    const HostTensor y = compiled_values(binary(DType::f64, 5, DType::boolean, p), {a, b})[0];
    for (std::size_t i = 0; i < 5; ++i) CHECK(at(y, i) == want[i]);
  }
}

TEST_CASE("a comparison with a constant decides on its exact value", "[compiled][primitives]") {
  // The binary32 number nearest to 0.1 is larger than 0.1.
  const HostTensor x = real_tensor(DType::f32, {2}, {0.1, 0.0999999});
  const System s = unary(DType::f32, 2, DType::boolean,
                         [](const Expr& e) { return apply(Primitive::gt, {e, spec::decimal(1, -1)}); });
  const HostTensor y = compiled_values(s, {x})[0];
  CHECK(at(y, 0) == 1);
  CHECK(at(y, 1) == 0);
}

TEST_CASE("constants alone are computed in double and rounded once", "[compiled][primitives]") {
  const System s = unary(DType::f32, 3, DType::f32, [](const Expr& e) {
    return e * (spec::decimal(1) - spec::binary64(0.999));
  });
  const HostTensor y = compiled_values(s, {real_tensor(DType::f32, {3}, {1, 2, 4})})[0];
  const auto want = static_cast<float>(1 - 0.999);
  CHECK(y.view<float>()[0] == want);
  CHECK(y.view<float>()[2] == 4 * want);
}

TEST_CASE("tests of reals", "[compiled][primitives]") {
  const HostTensor x = real_tensor(DType::f32, {4}, {1, inf, -inf, not_a_number});
  const std::vector<std::pair<Primitive, std::vector<int>>> rows{{Primitive::is_nan, {0, 0, 0, 1}},
                                                                 {Primitive::is_inf, {0, 1, 1, 0}},
                                                                 {Primitive::is_finite, {1, 0, 0, 0}}};
  for (const auto& [p, want] : rows) {
    const System s = unary(DType::f32, 4, DType::boolean, [&, primitive = p](const Expr& e) { return apply(primitive, {e}); });
    const HostTensor y = compiled_values(s, {x})[0];
    for (std::size_t i = 0; i < 4; ++i) CHECK(at(y, i) == want[i]);
  }
}

TEST_CASE("integers wrap and divide downwards", "[compiled][primitives]") {
  const std::vector<std::int64_t> a{7, -7, 7, -7, INT64_MAX, INT64_MIN, 0, 5, -1, 12, -12};
  const std::vector<std::int64_t> b{2, 2, -2, -2, 1, -1, 3, -9, 4, 4, 5};
  const HostTensor x = HostTensor::of<std::int64_t>({11}, a);
  const HostTensor z = HostTensor::of<std::int64_t>({11}, b);
  const auto run = [&](Primitive p) { return compiled_values(binary(DType::i64, 11, DType::i64, p), {x, z})[0]; };
  const std::vector<std::int64_t> quotients{3, -4, -4, 3, INT64_MAX, INT64_MIN, 0, -1, -1, 3, -3};
  const std::vector<std::int64_t> remainders{1, 1, -1, -1, 0, 0, 0, -4, 3, 0, 3};
  const HostTensor q = run(Primitive::floor_div);
  const HostTensor r = run(Primitive::modulo);
  const HostTensor sum = run(Primitive::add);
  for (std::size_t i = 0; i < 11; ++i) {
    CHECK(q.view<std::int64_t>()[i] == quotients[i]);
    CHECK(r.view<std::int64_t>()[i] == remainders[i]);
  }
  CHECK(sum.view<std::int64_t>()[4] == INT64_MIN);
}

TEST_CASE("division of indices by constants", "[compiled][primitives]") {
  System s;
  const TensorId y = output(s, "y", DType::i64, {41, 2});
  const Binder i = s.bind("i", 41);
  const Expr shifted = spec::variable(i) - spec::integer(20);
  const Expr e = spec::variable(i);
  const auto add = [&](std::int64_t column, const Expr& value) {
    Binder fresh = s.bind("i", 41);
    s.equations.push_back({y, {fresh}, {spec::variable(fresh), spec::integer(column)},
                           substitute(value, {{i.variable, spec::variable(fresh)}}), -1});
  };
  add(0, apply(Primitive::floor_div, {shifted, spec::integer(3)}) * spec::integer(100) +
             apply(Primitive::modulo, {shifted, spec::integer(4)}));
  add(1, apply(Primitive::floor_div, {e, spec::integer(7)}) * spec::integer(100) +
             apply(Primitive::modulo, {e, spec::integer(7)}));
  const HostTensor got = compiled_values(s, {})[0];
  for (int n = 0; n < 41; ++n) {
    const int v = n - 20;
    const int quotient = static_cast<int>(std::floor(v / 3.0));
    const int remainder = ((v % 4) + 4) % 4;
    CHECK(at(got, static_cast<std::size_t>(2 * n)) == quotient * 100 + remainder);
    CHECK(at(got, static_cast<std::size_t>(2 * n + 1)) == n / 7 * 100 + n % 7);
  }
}

TEST_CASE("philox gives the published words", "[compiled][primitives]") {
  // Random123's known answers: all zero; and key a4093822 299f31d0, counter 243f6a88 85a308d3 13198a2e 03707344.
  System s;
  const TensorId a = input(s, "a", DType::i64, {4});
  const TensorId y = output(s, "y", DType::i64, {4});
  const Binder i = s.bind("i", 4);
  const auto part = [&](std::int64_t k) { return s.at(a, {spec::integer(k)}); };
  s.define(y, {i}, apply(Primitive::philox, {part(0), part(1), part(2), part(3) + spec::variable(i)}));
  const auto run = [&](const std::vector<std::int64_t>& values) {
    return compiled_values(s, {HostTensor::of<std::int64_t>({4}, values)})[0];
  };
  const HostTensor zero = run({0, 0, 0, 0});
  const std::vector<std::int64_t> want_zero{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (std::size_t w = 0; w < 4; ++w) CHECK(zero.view<std::int64_t>()[w] == want_zero[w]);
  // Another implementation of the same numbers, for arguments whose upper halves count.
  const std::int64_t seed = 0x299f31d0a4093822;
  const std::int64_t first = std::int64_t{5} << 34;
  const HostTensor other = run({seed, 0x13198a2e, 0x03707344, first});
  for (std::size_t w = 0; w < 4; ++w) {
    const auto word = spec::philox_word(static_cast<std::uint64_t>(seed), 0x13198a2e, 0x03707344, static_cast<std::uint64_t>(first) + w);
    CHECK(other.view<std::int64_t>()[w] == static_cast<std::int64_t>(word));
  }
}

TEST_CASE("arithmetic agrees with the reference on small integers", "[compiled][primitives]") {
  std::size_t compared = 0;
  for (const Primitive p : {Primitive::add, Primitive::sub, Primitive::mul, Primitive::maximum, Primitive::minimum}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const System s = binary(dtype, 19, dtype, p);
      const std::vector<HostTensor> in{small_integers(dtype, {19}, 1), small_integers(dtype, {19}, 2)};
      const HostTensor got = compiled_values(s, in)[0];
      const HostTensor want = reference_values(s, in)[0];
      for (std::size_t i = 0; i < 19; ++i, ++compared) CHECK(same_number(at(got, i), at(want, i)));
    }
  }
  CHECK(compared == 190);
}
