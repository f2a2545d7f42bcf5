// f16 and bf16 in memory: every bit pattern and every boundary of rounding, and programs that show whether an
// intermediate was rounded where it is stored. The host's own conversions are the reference's, which share no code with
// the generated ones.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>

#include "compiled/runtime/store.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

constexpr std::int64_t patterns = 65536;

HostTensor all_patterns(DType dtype) {
  HostTensor t(dtype, {patterns});
  for (std::size_t i = 0; i < patterns; ++i) t.view<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
  return t;
}

/// y = x, or x backwards, in another element type.
System copy(DType from, DType to, std::int64_t n, bool backwards = false) {
  System s;
  const TensorId x = input(s, "x", from, {n});
  const TensorId y = output(s, "y", to, {n});
  const auto binders = s.bind_all(y);
  const Expr i = spec::variable(binders[0]);
  s.define(y, binders, s.at(x, {backwards ? spec::integer(n - 1) - i : i}));
  return s;
}

/// Numbers at and around every boundary of rounding to the 16-bit type: each number of it, the middle to the next one,
/// and what lies just beside the middle in the type that is rounded.
template <class T>
std::vector<T> boundaries(DType dtype) {
  const reference::Array<double> exact = reference::from_host<double>(all_patterns(dtype));
  std::vector<T> values;
  for (std::size_t i = 0; i < patterns; ++i) {
    const auto v = static_cast<T>(exact.real[i]);
    values.push_back(v);
    if (!std::isfinite(v)) continue;
    // Beyond the largest number, the next one would follow at the same distance.
    const bool last = !std::isfinite(exact.real[i + 1]);
    const double next = last ? 2 * exact.real[i] - exact.real[i - 1] : exact.real[i + 1];
    const auto middle = static_cast<T>(exact.real[i] / 2 + next / 2);
    const T inf = std::numeric_limits<T>::infinity();
    values.insert(values.end(), {middle, std::nextafter(middle, inf), std::nextafter(middle, -inf)});
  }
  return values;
}

template <class T>
void check_narrowing(DType dtype, bool backwards) {
  std::vector<T> values = boundaries<T>(dtype);
  const T inf = std::numeric_limits<T>::infinity();
  values.insert(values.end(), {std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest(),
                               std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(),
                               -std::numeric_limits<T>::denorm_min(), inf, -inf});
  if (values.size() % 16 == 0) values.push_back(1);
  const auto n = static_cast<std::int64_t>(values.size());
  const HostTensor x = HostTensor::of<T>({n}, values);
  const HostTensor got = compiled_values(copy(dtype_of_t<T>::value, dtype, n, backwards), {x})[0];
  const HostTensor expected = reference::to_host(reference::from_host<double>(x), dtype);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = got.view<std::uint16_t>()[backwards ? values.size() - 1 - i : i];
    if (std::isnan(values[i]) ? std::isnan(spec::half_value(bits, dtype)) : bits == expected.view<std::uint16_t>()[i]) continue;
    if (wrong++ == 0) {
      INFO(name_of(dtype) << " of " << values[i] << ": " << bits << ", expected " << expected.view<std::uint16_t>()[i]);
      CHECK(false);
    }
  }
  CHECK(wrong == 0);
  CHECK(values.size() > 3 * 65000);
}

constexpr std::array halves{DType::f16, DType::bf16};

spec::Program parsed(const std::string& text) { return spec::parse_program(text); }

}  // namespace

TEST_CASE("every 16-bit pattern is widened exactly", "[compiled][halves]") {
  for (const DType dtype : halves) {
    for (const DType wide : {DType::f32, DType::f64}) {
      for (const bool backwards : {false, true}) {
        const HostTensor x = all_patterns(dtype);
        const HostTensor got = compiled_values(copy(dtype, wide, patterns, backwards), {x})[0];
        const reference::Array<double> exact = reference::from_host<double>(x);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < patterns; ++i) {
          const double value = at(got, backwards ? patterns - 1 - i : i);
          const bool sign = std::isnan(value) || std::signbit(value) == std::signbit(exact.real[i]);
          wrong += same_number(value, exact.real[i]) && sign ? 0U : 1U;
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("every boundary is rounded to nearest even, from both wider types", "[compiled][halves]") {
  for (const DType dtype : halves) {
    check_narrowing<float>(dtype, false);
    check_narrowing<float>(dtype, true);
    check_narrowing<double>(dtype, false);
  }
}

TEST_CASE("one element and a scalar are converted like a vector", "[compiled][halves]") {
  for (const DType dtype : halves) {
    for (const double v : {65519.0, 65520.0, 1e-7, 3e-8, 1.00390625, 1.0 / 3, -2.5e-5, 1e39}) {
      const HostTensor x = real_tensor(DType::f64, {1}, {v});
      const HostTensor expected = reference::to_host(reference::from_host<double>(x), dtype);
      CHECK(compiled_values(copy(DType::f64, dtype, 1), {x})[0] == expected);
    }
  }
}

TEST_CASE("an intermediate of 16 bits is rounded wherever it lives", "[compiled][halves]") {
  // (1 + 2^-12) - 1 is 0 when the sum was stored in 16 bits, 2^-12 when it was not.
  for (const DType dtype : halves) {
    const std::string type(name_of(dtype));
    const spec::Program program = parsed("input x : " + type + "[19]\ninput y : " + type + "[19]\ns = add(x, y)\nd = sub(s, x)\noutput d\n");
    const std::vector<HostTensor> inputs{real_tensor(dtype, {19}, std::vector<double>(19, 1)),
                                         real_tensor(dtype, {19}, std::vector<double>(19, 0x1p-12))};
    const HostTensor zeros = real_tensor(dtype, {19}, std::vector<double>(19, 0));
    for (const bool fuse : {true, false}) {
      for (const bool passes : {true, false}) {
        compiled::CompileOptions o = options();
        o.plan.fuse = fuse;
        if (!passes) o.off = {"all"};
        CHECK(compiled::compile(program, o).run(inputs)[0] == zeros);
      }
    }
  }
}

TEST_CASE("sums of 16-bit numbers are done in single precision", "[compiled][halves]") {
  // 300 ones: bf16 alone would stop at 256. The sum is exact in f32 and rounded once.
  for (const DType dtype : halves) {
    const spec::Program program = parsed("input x : " + std::string(name_of(dtype)) + "[301]\ns = sum(x)\noutput s\n");
    const HostTensor got = compiled::compile(program, options()).run(std::vector<HostTensor>{real_tensor(dtype, {301}, std::vector<double>(301, 1))})[0];
    CHECK(got == real_tensor(dtype, {}, {301}));
    CHECK(at(got, 0) == (dtype == DType::f16 ? 301 : 300));
  }
}

TEST_CASE("a store holds 16-bit parameters and updates them in place", "[compiled][halves]") {
  for (const DType dtype : halves) {
    const std::string type(name_of(dtype));
    const spec::Program program = parsed("parameter w : " + type + "[5]\ninput g : " + type + "[5]\nv = sub(w, g)\nupdate w := v\n");
    const compiled::Executable step = compiled::compile(program, options());
    compiled::Store store;
    step.declare(store);
    store.write("w", real_tensor(dtype, {5}, {1, 2, 3, 4, 5}));
    (void)step.run(store, {{"g", real_tensor(dtype, {5}, {1, 1, 0x1p-14, 0.5, -3})}});
    CHECK(store.read("w") == real_tensor(dtype, {5}, {0, 1, 3, 3.5, 8}));
  }
}

TEST_CASE("a value of 16 bits read in double precision is the stored one", "[compiled][halves]") {
  const spec::Program program = parsed("input x : f16[7]\nt = mul(x, x)\ny = cast(t) {dtype = f64}\noutput y\n");
  const HostTensor x = real_tensor(DType::f16, {7}, {1.0009765625, 300, -2, 0, 1e-4, 0.1, 3});
  const HostTensor got = compiled::compile(program, options()).run(std::vector<HostTensor>{x})[0];
  for (std::size_t i = 0; i < 7; ++i) {
    const auto wide = static_cast<float>(at(x, i));
    CHECK(at(got, i) == spec::half_value(spec::nearest_half(static_cast<double>(wide * wide), DType::f16), DType::f16));
  }
}
