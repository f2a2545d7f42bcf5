// What is lost in a rounding is told from what shows; what a change reads beyond a tensor stands at its end.
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "reference/evaluate.hpp"
#include "tests/adequacy/answers.hpp"
#include "tests/adequacy/changes.hpp"
#include "tests/adequacy/equivalence.hpp"
#include "tests/adequacy/lost.hpp"

using namespace etalon;
using spec::Expr;
using spec::Primitive;

namespace {

// y[i] is made of x[i], over three elements.
struct Elementwise {
  spec::System system;
  spec::TensorId x = -1, y = -1;

  template <class Make>
  explicit Elementwise(Make make) {
    x = system.add_tensor("x", DType::f32, {3});
    y = system.add_tensor("y", DType::f32, {3});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", 3);
    system.define(y, {i}, make(system.at(x, {spec::variable(i)})));
  }

  [[nodiscard]] bool loses_subnormals() const {
    const double normal = 0x1p-126;
    adequacy::Reaches reaches(system);
    return adequacy::Lost(system, reaches, 0).is_lost(x, {normal, {-normal, normal, false}, true});
  }
};

Expr call(Primitive p, const Expr& a) { return spec::apply(p, {a}); }

}  // namespace

TEST_CASE("subnormal numbers are lost where a rounding behind them hides them, and nowhere else", "[adequacy]") {
  const Expr one = spec::decimal(1), zero = spec::decimal(0);
  const auto loses = [](auto make) { return Elementwise(make).loses_subnormals(); };
  CHECK(loses([&](const Expr& x) { return x + one; }));
  CHECK(loses([&](const Expr& x) { return call(Primitive::exp, x); }));
  CHECK(loses([&](const Expr& x) { return one - call(Primitive::tanh, x) * call(Primitive::tanh, x); }));
  CHECK(loses([&](const Expr& x) { return x * x; }));  // 0 both times
  CHECK(loses([&](const Expr& x) {
    const Expr positive = spec::apply(Primitive::gt, {x, zero});
    return spec::select(positive, one / (one + call(Primitive::exp, -x)), call(Primitive::exp, x) / (one + call(Primitive::exp, x)));
  }));
  CHECK(loses([&](const Expr& x) { return spec::select(call(Primitive::is_finite, x), one, zero); }));
  // The arms are the same at 0, as formulas.
  CHECK(loses([&](const Expr& x) {
    const Expr positive = spec::apply(Primitive::gt, {x, zero});
    return spec::select(positive, x + call(Primitive::log1p, call(Primitive::exp, -x)), call(Primitive::log1p, call(Primitive::exp, x)));
  }));
  CHECK_FALSE(loses([&](const Expr& x) {
    const Expr positive = spec::apply(Primitive::gt, {x, zero});
    return spec::select(positive, one + call(Primitive::log1p, call(Primitive::exp, -x)), call(Primitive::log1p, call(Primitive::exp, x)));
  }));
  CHECK_FALSE(loses([&](const Expr& x) { return x * spec::decimal(2); }));
  CHECK_FALSE(loses([&](const Expr& x) { return call(Primitive::sqrt, x); }));
  CHECK_FALSE(loses([&](const Expr& x) { return one / x; }));
  CHECK_FALSE(loses([&](const Expr& x) { return spec::apply(Primitive::maximum, {x, zero}); }));
  CHECK_FALSE(loses([&](const Expr& x) { return spec::select(spec::apply(Primitive::gt, {x, zero}), one, zero); }));
  CHECK_FALSE(loses([&](const Expr& x) { return call(Primitive::log1p, x); }));
}

TEST_CASE("what a change reads beyond a tensor is what stands at its other end", "[adequacy]") {
  Elementwise next([](const Expr& x) { return x; });
  const std::vector<HostTensor> inputs{HostTensor::of<float>({3}, {1, 2, 3})};
  adequacy::Answers answers(next.system, inputs);
  const spec::Equation& e = next.system.equations[0];
  adequacy::Change change;
  change.equation.emplace(0, next.system.at(next.x, {spec::variable(e.binders[0]) + spec::integer(1)}));
  CHECK_THROWS(answers.quick(change));
  adequacy::hold_inside(change, next.system);
  const auto got = answers.quick(change);
  REQUIRE(got);
  CHECK(got->front() == HostTensor::of<float>({3}, {2, 3, 1}));
}

TEST_CASE("elements that are all the same may be read at any index, others may not", "[adequacy]") {
  for (const bool uniform : {true, false}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {3}), each = system.add_tensor("each", DType::f32, {3}),
               y = system.add_tensor("y", DType::f32, {3});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", 3), j = system.bind("j", 3);
    system.define(each, {i}, system.at(x, {uniform ? spec::integer(0) : spec::variable(i)}) * spec::decimal(2));
    system.define(y, {j}, system.at(each, {spec::variable(j)}));
    adequacy::Reaches reaches(system);
    std::size_t met = 0;
    for (const adequacy::Site& site : adequacy::sites_of(system, {false, true})) {
      for (const adequacy::Alternative& a : adequacy::equation_alternatives(system, site, false)) {
        if (a.text != "index j (last) of each + 1" && a.text != "index j of each + 1") continue;
        CHECK(adequacy::why_equivalent(system, site, a, reaches).empty() == !uniform);
        ++met;
      }
    }
    CHECK(met == 1);
  }
}

TEST_CASE("axes that one sum runs over may be exchanged, those of a result may not", "[adequacy]") {
  for (const bool summed : {true, false}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {3, 3}), y = summed ? system.add_tensor("y", DType::f32, {}) : system.add_tensor("y", DType::f32, {3, 3});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder a = system.bind("a", 3), b = system.bind("b", 3);
    const Expr read = system.at(x, {spec::variable(a), spec::variable(b)});
    if (summed) system.define(y, {}, spec::reduce(spec::Reduction::sum, {a, b}, spec::boolean(true), read));
    else system.define(y, {a, b}, read);
    adequacy::Reaches reaches(system);
    std::size_t met = 0;
    for (const adequacy::Site& site : adequacy::sites_of(system, {true})) {
      for (const adequacy::Alternative& other : adequacy::equation_alternatives(system, site, false)) {
        if (other.sort != adequacy::Sort::axes) continue;
        CHECK(adequacy::why_equivalent(system, site, other, reaches).empty() == !summed);
        ++met;
      }
    }
    CHECK(met == 1);
  }
}

TEST_CASE("a condition may change where the others beside it do not hold", "[adequacy]") {
  // y[i] = sum[k where k <= i and k < limit] x[k]: with `k <= i + 1` for `k <= i` it is the same where the limit is 1.
  for (const std::int64_t limit : {1, 3}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {3}), y = system.add_tensor("y", DType::f32, {3});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", 3), k = system.bind("k", 3);
    const Expr le = spec::apply(Primitive::le, {spec::variable(k), spec::variable(i)});
    const Expr lt = spec::apply(Primitive::lt, {spec::variable(k), spec::integer(limit)});
    system.define(y, {i}, spec::reduce(spec::Reduction::sum, {k}, le && lt, system.at(x, {spec::variable(k)})));
    adequacy::Reaches reaches(system);
    std::size_t met = 0;
    for (const adequacy::Site& site : adequacy::sites_of(system, {true})) {
      for (const adequacy::Alternative& a : adequacy::equation_alternatives(system, site, false)) {
        if (!site.place.ends_with("and.0/<=.1") || a.text != "the index + 1") continue;
        CHECK(adequacy::why_equivalent(system, site, a, reaches).empty() == (limit == 3));
        ++met;
      }
    }
    CHECK(met == 1);
  }
}

TEST_CASE("what changes where a condition holds is compared with what stands beside it there", "[adequacy]") {
  // y = x + log1p(exp(-x)), the exponential 0 where -x < -80: lost behind x, and not behind 1.
  for (const bool behind : {true, false}) {
    const Elementwise e([&](const Expr& x) {
      return (behind ? x : spec::decimal(0)) + call(Primitive::log1p, call(Primitive::exp, -x));
    });
    adequacy::Reaches reaches(e.system);
    std::size_t met = 0;
    for (const adequacy::Site& site : adequacy::sites_of(e.system, {true})) {
      if (!site.node.is(Primitive::exp)) continue;
      const Expr early = spec::apply(Primitive::lt, {site.node->args[0], spec::decimal(-80)});
      const adequacy::Alternative a{adequacy::Sort::threshold, "at its limit", spec::select(early, spec::decimal(0), site.node)};
      CHECK(adequacy::why_equivalent(e.system, site, a, reaches).empty() == !behind);
      ++met;
    }
    CHECK(met == 1);
  }
}

TEST_CASE("what is lost beside a factor that every term has is lost whatever the factor is", "[adequacy]") {
  // y = d*exp(x) + d, and the same with a d that stands in one term alone, or in both and in a condition.
  const auto loses = [](auto make) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {3}), d = system.add_tensor("d", DType::f32, {3}), y = system.add_tensor("y", DType::f32, {3});
    system.inputs = {x, d};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", 3);
    system.define(y, {i}, make(system.at(x, {spec::variable(i)}), system.at(d, {spec::variable(i)})));
    adequacy::Reaches reaches(system);
    return adequacy::Lost(system, reaches, 0).is_lost(x, {0x1p-126, {-0x1p-126, 0x1p-126, false}, true});
  };
  CHECK(loses([](const Expr& x, const Expr& d) { return d * call(Primitive::exp, x) + d; }));
  // Two terms that one condition chooses, the same together at 0 on both sides, and not each.
  const auto chosen = [](const Expr& x, const Expr& d, std::int64_t other) {
    const Expr negative = spec::apply(Primitive::lt, {x, spec::decimal(0)}), zero = spec::decimal(0), e = call(Primitive::exp, x);
    return spec::select(negative, d * e, zero) + spec::select(negative, zero, d * (e * spec::decimal(other)));
  };
  CHECK(loses([&](const Expr& x, const Expr& d) { return chosen(x, d, 1); }));
  CHECK_FALSE(loses([&](const Expr& x, const Expr& d) { return chosen(x, d, 2); }));
  CHECK_FALSE(loses([](const Expr& x, const Expr& d) { return d * x; }));
  CHECK_FALSE(loses([](const Expr& x, const Expr& d) { return d * x * x; }));  // not 0 where d is large
  CHECK_FALSE(loses([](const Expr& x, const Expr& d) { return d * call(Primitive::expm1, x); }));
  CHECK_FALSE(loses([](const Expr& x, const Expr& d) { return d * d * x + d; }));
  CHECK_FALSE(loses([](const Expr& x, const Expr& d) { return d * x + call(Primitive::exp, x); }));
}
