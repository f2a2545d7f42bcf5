// Laws of the real numbers: each says the same number, on forms made for it and wherever it occurs in the library; its
// roundings are admitted, and what is further off is not.
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "conformance/schemas/laws.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"
#include "tests/conformance/case_of_text.hpp"

using namespace etalon;
using conformance_test::admitted;
using conformance_test::case_of;
using reference::Rational;
using reference::Real100;

namespace {

struct Form {
  std::string law;
  std::string text;   ///< of a definition in which the law's form occurs
  std::string other;  ///< in which it does not, though it looks like it
  bool positive = false;
};

const std::vector<Form> forms{
    {"updated moments", "f(a[n], b[n]) -> y\n  m = (sum[k] a[k])/n\n  d[k] = a[k] - m\n  y = (sum[k] d[k]*d[k])/(n - 1) + m\n",
     "f(a[n], b[n]) -> y\n  m = (sum[k] a[k])/n\n  d[k] = b[k] - m\n  y = sum[k] d[k]*d[k]\n"},
    {"roots of quotients", "f(a[n], b[n]) -> y[n]\n  y[i] = sqrt(a[i]/b[i])\n", "f(a[n], b[n]) -> y[n]\n  y[i] = sqrt(a[i])/b[i]\n", true},
    {"weighted means from the first", "f(a[n], b[n]) -> y[n]\n  y[i] = 0.75*a[i] + (1 - 0.75)*b[i]*b[i]\n", "f(a[n], b[n]) -> y[n]\n  y[i] = 0.75*a[i] + (1 - 0.5)*b[i]\n"},
    {"weighted means from the second", "f(a[n], b[n]) -> y[n]\n  y[i] = (1 - a[i])*b[i] + a[i]*3\n", "f(a[n], b[n]) -> y[n]\n  y[i] = (1 - a[i])*b[i] - a[i]*3\n"},
    {"decay apart", "f(a[n], b[n]) -> y[n]\n  y[i] = a[i]*(1 - b[i]) - b[i]\n", "f(a[n], b[n]) -> y[n]\n  y[i] = a[i]*(1 - b[i]) + b[i]\n"},
    {"squares apart", "f(a[n], b[n]) -> y[n]\n  y[i] = a[i]*(1 - b[i]*b[i])\n", "f(a[n], b[n]) -> y[n]\n  y[i] = a[i]*(1 - a[i]*b[i])\n"},
    {"complements", "f(a[n], b[n]) -> y[n]\n  y[i] = if a[i] < 0 then b[i] else 1/(1 + exp(-a[i]))\n", "f(a[n], b[n]) -> y[n]\n  y[i] = if b[i] < 0 then b[i] else 1/(1 + exp(-a[i]))\n"},
    {"roots of factors inside", "f(a[n], b[n]) -> y\n  y = 3*sum[k] a[k]*b[k]\n", "f(a[n], b[n]) -> y\n  y = 3*sum[k] a[k]\n", true},
    {"factors inside", "f(a[n], b[n]) -> y[n]\n  y[i] = b[i]*(sum[k] a[k]*b[k])/n\n", "f(a[n], b[n]) -> y\n  y = n/(sum[k] a[k])\n"},
    {"factors outside", "f(a[n], b[n]) -> y[n]\n  y[i] = sum[k] a[i]*(b[k]/b[i])\n", "f(a[n], b[n]) -> y\n  y = sum[k] (a[k]/b[k])\n"},
    {"common factors", "f(a[n], b[n]) -> y[n]\n  y[i] = a[i]*b[i]/3 - a[i]\n", "f(a[n], b[n]) -> y[n]\n  y[i] = 3*a[i] - 3/b[i]\n"},
    {"affine maps", "f(a[n], b[n]) -> y[n]\n  m = sum[k] a[k]\n  y[i] = b[i]*(a[i] - m)/3\n", "f(a[n], b[n]) -> y[n]\n  y[i] = b[i]*(a[i] - b[i])\n"},
};

const conformance::Law& law_named(const std::string& name) {
  for (const conformance::Law& law : conformance::laws()) {
    if (law.name == name) return law;
  }
  throw std::runtime_error("no law " + name);
}

template <class T>
std::vector<reference::Array<T>> values_of(const spec::System& system, const std::vector<HostTensor>& inputs) {
  std::vector<reference::Array<T>> given;
  for (const HostTensor& t : inputs) given.push_back(reference::from_host<T>(t));
  return reference::evaluate<T>(system, given);
}

/// Eighths; ties are unlikely, and nothing is zero.
HostTensor eighths(std::mt19937& random, bool positive, std::int64_t n = 5) {
  HostTensor t(DType::f32, Dims{n});
  for (float& v : t.view<float>()) {
    const auto drawn = static_cast<float>(1 + random() % 2000U) / 8;
    v = positive || random() % 2U == 0 ? drawn : -drawn;
  }
  return t;
}

bool is_finite(const Rational&) { return true; }
template <class T>
bool is_finite(const T& v) { return boost::multiprecision::isfinite(v); }

/// Numbers that differ, among those that are numbers on both sides.
template <class T, class Same>
std::size_t differences(const spec::System& a, const spec::System& b, const std::vector<HostTensor>& inputs, const Same& same, std::size_t& compared) {
  const auto left = values_of<T>(a, inputs), right = values_of<T>(b, inputs);
  std::size_t found = 0;
  for (std::size_t o = 0; o < left.size(); ++o) {
    for (std::size_t i = 0; i < left[o].real.size(); ++i) {
      if (!is_finite(left[o].real[i]) || !is_finite(right[o].real[i])) continue;
      ++compared;
      found += same(left[o].real[i], right[o].real[i]) ? 0U : 1U;
    }
  }
  return found;
}

/// Exactly where numbers are rational, else to 80 of 100 digits.
std::size_t differences(const spec::System& a, const spec::System& b, const std::vector<HostTensor>& inputs, std::size_t& compared) {
  try {
    return differences<Rational>(a, b, inputs, [](const Rational& x, const Rational& y) { return x == y; }, compared);
  } catch (const Unsupported&) {
    const auto alike = [](const Real100& x, const Real100& y) { return abs(x - y) <= (1 + abs(x) + abs(y)) * Real100("1e-60"); };
    return differences<Real100>(a, b, inputs, alike, compared);
  }
}

}  // namespace

TEST_CASE("a law gives the same number wherever its form occurs", "[sound][schemas]") {
  std::mt19937 random(1);
  for (const Form& form : forms) {
    CAPTURE(form.law);
    std::size_t compared = 0;
    for (int n = 0; n < 20; ++n) {
      const std::vector operands{eighths(random, form.positive), eighths(random, form.positive)};
      const spec::System meaning = conformance::instance_of(case_of(form.text, spec::Mode::forward, operands)).system;
      const auto other = law_named(form.law).rewritten(meaning);
      REQUIRE(other.has_value());
      CHECK(differences(meaning, *other, operands, compared) == 0);
    }
    CHECK(compared >= 20);
    const std::vector operands{eighths(random, form.positive), eighths(random, form.positive)};
    CHECK_FALSE(law_named(form.law).rewritten(conformance::instance_of(case_of(form.other, spec::Mode::forward, operands)).system).has_value());
  }
}

TEST_CASE("every law has a form that is tried, but the quotients by counts, which have their own test", "[schemas]") {
  std::size_t tried = 0;
  for (const conformance::Law& law : conformance::laws()) {
    tried += std::any_of(forms.begin(), forms.end(), [&](const Form& f) { return f.law == law.name; }) ? 1U : 0U;
  }
  CHECK(tried == forms.size());
  CHECK(conformance::laws().size() == forms.size() + 1);
}

TEST_CASE("laws say of the library what its definitions mean", "[sound][schemas]") {
  std::size_t compared = 0, applied = 0;
  for (const spec::Definition* d : spec::library()) {
    for (const conformance::Check check : {conformance::Check::value, conformance::Check::jvp, conformance::Check::vjp}) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        auto c = conformance::make_case({std::string(d->name), check, DType::f64, 4 * i, 1, {}});
        if (!c || conformance::elements_of(*c) > 60) continue;
        std::mt19937 random(static_cast<unsigned>(i));
        for (auto* tensors : {&c->operands, &c->tangents, &c->cotangents}) {
          for (auto& t : *tensors) {
            if (!t || t->dtype != DType::f64) continue;
            for (double& v : t->view<double>()) v = (static_cast<double>(random() % 2000U) - 1000) / 8;
          }
        }
        const conformance::Schema meaning = conformance::meaning_of(*c);
        for (const conformance::Schema& other : conformance::schemas_by_form(meaning)) {
          INFO(d->name << " " << name_of(check) << " " << i);
          CHECK(differences(meaning.system, other.system, meaning.inputs, compared) == 0);
          ++applied;
        }
      }
    }
  }
  CHECK(applied > 500);
  CHECK(compared > 1000);
}

TEST_CASE("a weighted mean by the difference is admitted, and nothing beside it", "[schemas]") {
  const std::string text = "blend(a[n], b[n]) -> y[n]\n  y[i] = 0.9*a[i] + (1 - 0.9)*b[i]*b[i]\n";
  std::mt19937 random(2);
  std::uniform_real_distribution<float> near(1, 2);
  std::size_t apart = 0;
  for (int n = 0; n < 200; ++n) {
    const float a = near(random), b = near(random);
    const float by_difference = a + (static_cast<float>(1 - 0.9)) * (b * b - a), plain = 0.9F * a + static_cast<float>(1 - 0.9) * b * b;
    const auto c = case_of(text, spec::Mode::forward, {HostTensor::of<float>(Dims{1}, {a}), HostTensor::of<float>(Dims{1}, {b})});
    const float ulp = std::nextafter(by_difference, 4.0F) - by_difference;
    CHECK(admitted(c, {HostTensor::of<float>(Dims{1}, {plain})}));
    CHECK(admitted(c, {HostTensor::of<float>(Dims{1}, {by_difference})}));
    CHECK_FALSE(admitted(c, {HostTensor::of<float>(Dims{1}, {by_difference + 6 * ulp})}));
    CHECK_FALSE(admitted(c, {HostTensor::of<float>(Dims{1}, {std::nanf("")})}));
    apart += by_difference != plain ? 1U : 0U;
  }
  CHECK(apart > 20);
}

TEST_CASE("a reciprocal may stand for a divisor where a text rounds more than once", "[schemas]") {
  const std::string text = "shares(a[n]) -> y[n]\n  s = sum[k] a[k]\n  y[i] = a[i]/s\n";
  const std::string quotient = "shares(a[n], s[n]) -> y[n]\n  y[i] = a[i]/s[i]\n";
  std::size_t apart = 0;
  for (float a = 1; a < 60; ++a) {
    const float sum = a + 7, by_reciprocal = a * (1 / sum), plain = a / sum, other = 7 * (1 / sum);
    const auto c = case_of(text, spec::Mode::forward, {HostTensor::of<float>(Dims{2}, {a, 7})});
    const float ulp = std::nextafter(plain, 4.0F) - plain;
    CHECK(admitted(c, {HostTensor::of<float>(Dims{2}, {by_reciprocal, other})}));
    CHECK_FALSE(admitted(c, {HostTensor::of<float>(Dims{2}, {plain + 4 * ulp, other})}));
    const auto once = case_of(quotient, spec::Mode::forward, {HostTensor::of<float>(Dims{1}, {a}), HostTensor::of<float>(Dims{1}, {sum})});
    CHECK(admitted(once, {HostTensor::of<float>(Dims{1}, {plain})}));
    CHECK(admitted(once, {HostTensor::of<float>(Dims{1}, {by_reciprocal})}) == (by_reciprocal == plain));
    apart += by_reciprocal != plain ? 1U : 0U;
  }
  CHECK(apart > 5);
}
