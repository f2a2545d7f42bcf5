#include <catch2/catch.hpp>

#include "reference/differentiate.hpp"
#include "reference/evaluate.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/derivative/literal.hpp"
#include "spec/error.hpp"
#include "spec/system/simplify.hpp"
#include "tests/spec/calculus/draw.hpp"

using namespace etalon;
using namespace etalon::spec;
using namespace etalon::test;

namespace {

/// Everything here is exact but for rounding at 50 digits: derivatives agree to 40, as tests/reference/three_ways.hpp asks.
const Real tiny("1e-40");

std::vector<Values> run(const System& s, const std::vector<Values>& inputs) {
  return reference::evaluate<Real>(s, std::span<const Values>(inputs));
}

std::vector<std::size_t> real_outputs(const System& s) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < s.outputs.size(); ++i) {
    if (kind_of(s[s.outputs[i]].dtype) == Kind::real) at.push_back(i);
  }
  return at;
}

std::vector<Values> joined(std::vector<Values> a, const std::vector<Values>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Values> after(const std::vector<Values>& all, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(count), all.end()};
}

/// Inputs, tangents of the real inputs and cotangents of the real outputs.
struct Case {
  std::vector<Values> inputs, tangents, cotangents;
};

Case draw_case(const Example& e, unsigned seed) {
  Draw draw(seed);
  Case c;
  c.inputs = draw.inputs(e.system, e.low, e.high);
  for (const std::size_t i : real_inputs(e.system)) c.tangents.push_back(draw(e.system[e.system.inputs[i]]));
  for (const std::size_t i : real_outputs(e.system)) c.cotangents.push_back(draw(e.system[e.system.outputs[i]]));
  return c;
}

std::vector<Values> tangents_by_definition(const System& s, const Case& c) {
  std::vector<std::optional<Values>> tangents(s.inputs.size());
  const auto wrt = real_inputs(s);
  for (std::size_t i = 0; i < wrt.size(); ++i) tangents[wrt[i]] = c.tangents[i];
  const auto found = reference::jvp_by_definition<Real>(s, std::span<const Values>(c.inputs), tangents);
  std::vector<Values> result;
  for (const auto& t : found.tangents) {
    if (t) result.push_back(*t);
  }
  return result;
}

std::vector<Values> cotangents_by_definition(const System& s, const Case& c) {
  std::vector<std::optional<Values>> cotangents(s.outputs.size());
  const auto of = real_outputs(s);
  for (std::size_t i = 0; i < of.size(); ++i) cotangents[of[i]] = c.cotangents[i];
  std::vector<bool> wrt(s.inputs.size(), false);
  for (const std::size_t i : real_inputs(s)) wrt[i] = true;
  std::vector<Values> result;
  for (const auto& t : reference::vjp_by_definition<Real>(s, std::span<const Values>(c.inputs), cotangents, wrt)) {
    if (t) result.push_back(*t);
  }
  return result;
}

void check_close(const std::vector<Values>& got, const std::vector<Values>& want, const Real& bound = tiny) {
  REQUIRE(got.size() == want.size());
  REQUIRE(!got.empty());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    const Real d = distance(got[i], want[i]);
    CAPTURE(static_cast<double>(d));
    CHECK(d <= bound);
  }
}

constexpr unsigned seeds = 3;

}  // namespace

TEST_CASE("the JVP of every example equals the one by dual numbers", "[calculus][jvp]") {
  for (const Example& e : examples()) {
    const System d = jvp(e.system, real_inputs(e.system));
    REQUIRE_NOTHROW(verify(d));
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      CAPTURE(e.name, seed);
      const Case c = draw_case(e, seed);
      const auto all = run(d, joined(c.inputs, c.tangents));
      check_close(after(all, e.system.outputs.size()), tangents_by_definition(e.system, c));
    }
  }
}

TEST_CASE("the VJP of every example is the transpose of the JVP by dual numbers", "[calculus][vjp]") {
  for (const Example& e : examples()) {
    const System d = vjp(e.system, real_inputs(e.system));
    REQUIRE_NOTHROW(verify(d));
    for (unsigned seed = 1; seed <= seeds; ++seed) {
      CAPTURE(e.name, seed);
      const Case c = draw_case(e, seed);
      const auto all = run(d, joined(c.inputs, c.cotangents));
      check_close(after(all, e.system.outputs.size()), cotangents_by_definition(e.system, c));
    }
  }
}

TEST_CASE("JVP and VJP are adjoint", "[calculus][adjoint]") {
  for (const Example& e : examples()) {
    const System forward = jvp(e.system, real_inputs(e.system));
    const System reverse = vjp(e.system, real_inputs(e.system));
    CAPTURE(e.name);
    bool moved = false;
    for (const unsigned seed : {11U, 12U, 13U}) {
      const Case c = draw_case(e, seed);
      const auto tangents = after(run(forward, joined(c.inputs, c.tangents)), e.system.outputs.size());
      const auto cotangents = after(run(reverse, joined(c.inputs, c.cotangents)), e.system.outputs.size());
      Real left = 0, right = 0;
      for (std::size_t i = 0; i < tangents.size(); ++i) left += inner(tangents[i], c.cotangents[i]);
      for (std::size_t i = 0; i < cotangents.size(); ++i) right += inner(cotangents[i], c.tangents[i]);
      CHECK(abs(left - right) <= tiny);
      moved = moved || left != 0;
    }
    CHECK(moved);
  }
}

TEST_CASE("the JVP agrees with central differences at 100 digits", "[calculus][jvp]") {
  using Wide = reference::Real100;
  using Array = reference::Array<Wide>;
  const auto widened = [](const Values& v) {
    Array a(v.kind, v.dims);
    a.integer = v.integer;
    for (std::size_t i = 0; i < v.real.size(); ++i) a.real[i] = Wide(v.real[i]);
    return a;
  };
  const Wide h("1e-33");
  std::size_t compared = 0;
  for (const Example& e : examples()) {
    if (e.name == "shared output") continue;  // its value moves where `detach` hides the motion
    CAPTURE(e.name);
    const auto wrt = real_inputs(e.system);
    const System d = jvp(e.system, wrt);
    const Case c = draw_case(e, 23);
    const auto at = [&](const Wide& step) {
      std::vector<Array> moved;
      for (const Values& v : c.inputs) moved.push_back(widened(v));
      for (std::size_t i = 0; i < wrt.size(); ++i) {
        for (std::size_t k = 0; k < c.tangents[i].real.size(); ++k) {
          moved[wrt[i]].real[k] += step * Wide(c.tangents[i].real[k]);
        }
      }
      return reference::evaluate<Wide>(e.system, std::span<const Array>(moved));
    };
    const auto up = at(h), down = at(-h);
    const auto got = after(run(d, joined(c.inputs, c.tangents)), e.system.outputs.size());
    const auto of = real_outputs(e.system);
    REQUIRE(got.size() == of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      for (std::size_t k = 0; k < got[i].real.size(); ++k) {
        const Wide want = (up[of[i]].real[k] - down[of[i]].real[k]) / (2 * h);
        CHECK(abs(want - Wide(got[i].real[k])) <= Wide(tiny));
        ++compared;
      }
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("derivatives can be differentiated again", "[calculus][second]") {
  for (const Example& e : examples()) {
    CAPTURE(e.name);
    const System first = vjp(e.system, real_inputs(e.system));
    const Example whole{e.name, first, e.low, e.high};
    const System forward = jvp(first, real_inputs(first));
    REQUIRE_NOTHROW(verify(forward));
    const System reverse = vjp(first, real_inputs(first));
    REQUIRE_NOTHROW(verify(reverse));
    const Case c = draw_case(whole, 5);
    check_close(after(run(forward, joined(c.inputs, c.tangents)), first.outputs.size()),
                tangents_by_definition(first, c));
    check_close(after(run(reverse, joined(c.inputs, c.cotangents)), first.outputs.size()),
                cotangents_by_definition(first, c));
  }
}

TEST_CASE("the JVP of a JVP equals the one by dual numbers", "[calculus][second]") {
  for (const Example& e : examples()) {
    CAPTURE(e.name);
    const System first = jvp(e.system, real_inputs(e.system));
    const Example whole{e.name, first, e.low, e.high};
    const System second = jvp(first, real_inputs(first));
    REQUIRE_NOTHROW(verify(second));
    const Case c = draw_case(whole, 6);
    check_close(after(run(second, joined(c.inputs, c.tangents)), first.outputs.size()),
                tangents_by_definition(first, c));
  }
}

TEST_CASE("solving the guards of a derivative keeps its values and shrinks it", "[calculus][solve]") {
  std::int64_t literal_points = 0, solved_points = 0;
  for (const Example& e : examples()) {
    CAPTURE(e.name);
    System literal = e.system;
    std::vector<TensorId> of, cotangents, wrt;
    for (const std::size_t i : real_outputs(e.system)) {
      const TensorInfo info = literal[literal.outputs[i]];
      of.push_back(literal.outputs[i]);
      cotangents.push_back(literal.add_tensor(info.name + "~", info.dtype, info.dims));
      literal.inputs.push_back(cotangents.back());
    }
    for (const std::size_t i : real_inputs(e.system)) wrt.push_back(e.system.inputs[i]);
    const std::size_t first = name_for_derivative(literal);
    for (const TensorId t : append_literal_vjp(literal, of, cotangents, wrt)) literal.outputs.push_back(t);
    REQUIRE_NOTHROW(verify(literal));
    System solved = literal;
    simplify_derivative(solved, first);
    REQUIRE_NOTHROW(verify(solved));
    const Case c = draw_case(e, 31);
    check_close(run(solved, joined(c.inputs, c.cotangents)), run(literal, joined(c.inputs, c.cotangents)));
    CHECK(points(solved) <= points(literal));
    if (points(literal) > 20000) UNSCOPED_INFO(e.name << ": " << points(literal) << " -> " << points(solved));
    literal_points += points(literal);
    solved_points += points(solved);
  }
  CHECK(solved_points * 20 < literal_points);
}

TEST_CASE("the VJP of softmax, concat, reshape and matmul is as cheap as it should be", "[calculus][solve]") {
  const auto cost = [](const std::string& name) {
    const System s = example(name);
    return points(vjp(s, real_inputs(s))) - points(s);
  };
  CHECK(cost("matmul") == 4 * 3 * (1 + 5) + 3 * 5 * (1 + 4));
  CHECK(cost("concat") == 6 + 2 + 8);
  CHECK(cost("reshape") == 24);
  CHECK(cost("transpose") == 24);
  CHECK(cost("softmax") <= 4 * points(example("softmax")));
}

TEST_CASE("a variable without a path has an exactly zero derivative", "[calculus][zero]") {
  const System s = example("shared output");
  const System d = vjp(s, std::vector<std::size_t>{1});
  const auto all = run(d, draw_case({"", d, 0, 1}, 3).inputs);
  REQUIRE(!all.back().real.empty());
  for (const Real& x : all.back().real) CHECK(x == 0);
  const System f = jvp(s, std::vector<std::size_t>{1});
  const auto tangents = after(run(f, Draw(4).inputs(f, 0, 1)), 2);
  REQUIRE(!tangents.empty());
  for (const Values& t : tangents) {
    CHECK(!t.real.empty());
    for (const Real& x : t.real) CHECK(x == 0);
  }
}

TEST_CASE("a derivative never evaluates a branch that is not taken", "[calculus][select]") {
  const System s = example("scalars");
  Draw draw(9);
  std::vector<Values> inputs = draw.inputs(s, 0, 1);
  for (Real& x : inputs[0].real) x = 0;  // sqrt and log have no derivative here
  inputs[0].real[1] = Real(4);
  std::vector<Values> one{Values(Kind::real, {4}), Values(Kind::real, {4}), Values(Kind::real, {4})};
  for (Real& x : one[1].real) x = 1;
  const auto x = run(vjp(s, std::vector<std::size_t>{0}), joined(inputs, one)).back();
  CHECK(x.real[0] == 0);
  CHECK(x.real[1] == Real("0.5"));  // 1/(2*sqrt(4)) + 1/4
  CHECK(x.real[2] == 0);
}

TEST_CASE("ties give one half to each side, abs and sign give zero at zero", "[calculus][kinks]") {
  const System s = example("scalars");
  std::vector<Values> inputs{Values(Kind::real, {4}), Values(Kind::real, {4})};
  inputs[0].real = {Real(0), Real(1), Real(2), Real(-3)};
  inputs[1].real = {Real(0), Real(1), Real(1), Real(-3)};
  std::vector<Values> one{Values(Kind::real, {4}), Values(Kind::real, {4}), Values(Kind::real, {4})};
  for (Real& x : one[2].real) x = 1;
  const auto all = run(vjp(s, std::vector<std::size_t>{0, 1}), joined(inputs, one));
  // kinks = maximum(x, z) + minimum(x*z, z) + abs(x)
  const std::vector<std::string> x{"0.5", "2", "2", "-0.5"};
  const std::vector<std::string> z{"1", "1.5", "1", "1.5"};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(all[3].real[i] == Real(x[i]));
    CHECK(all[4].real[i] == Real(z[i]));
  }
}

TEST_CASE("a maximum gives everything to its first place", "[calculus][kinks]") {
  const System s = example("max_pool");
  std::vector<Values> inputs{Values(Kind::real, {2, 4, 4}), Values(Kind::real, {2, 2, 2})};
  for (Real& g : inputs[1].real) g = 1;
  const Values x = run(vjp(s, std::vector<std::size_t>{0}), inputs).back();
  for (std::size_t i = 0; i < x.real.size(); ++i) CHECK(x.real[i] == ((i / 4) % 2 == 0 && i % 2 == 0 ? 1 : 0));
}

TEST_CASE("a local can be the variable, and then stands for itself", "[calculus][local]") {
  System s = example("layer_norm");
  const TensorId y = s.find("y"), d = s.find("d"), v = s.find("v");
  const TensorId g = s.add_tensor("g", DType::f64, s[y].dims);
  s.inputs.push_back(g);
  for (const TensorId t : append_vjp(s, std::vector{y}, std::vector{g}, std::vector{d, v})) s.outputs.push_back(t);
  REQUIRE_NOTHROW(verify(s));
  Draw draw(2);
  const auto inputs = draw.inputs(s, 0, 1);
  const auto values = reference::evaluate_all<Real>(s, std::span<const Values>(inputs));
  const auto at = [&](TensorId t) { return values[static_cast<std::size_t>(t)]; };
  // y = gamma * d / sqrt(v + eps) + beta with d and v held apart
  const Values d_cotangent = at(s.outputs[1]);
  for (std::size_t i = 0; i < 12; ++i) {
    const Real want = at(g).real[i] * at(s.find("gamma")).real[i % 4] / sqrt(at(v).real[i / 4] + Real("1e-5"));
    CHECK(abs(d_cotangent.real[i] - want) <= tiny);
  }
}

TEST_CASE("an integer or ill-shaped variable is refused by name", "[calculus][errors]") {
  System s = example("gather");
  const TensorId t = s.find("t"), x = s.find("x"), y = s.find("y");
  CHECK_THROWS_WITH(append_vjp(s, std::vector{y}, std::vector{y}, std::vector{t}),
                    Catch::Contains("variable t must be real, it is i64"));
  CHECK_THROWS_WITH(append_vjp(s, std::vector{y}, std::vector{x}, std::vector{x}),
                    Catch::Contains("cotangent of y must be f64[3, 4], it is f64[3, 5]"));
  CHECK_THROWS_AS(append_jvp(s, std::vector{t}, std::vector{x}, std::vector{x}), SpecViolation);
}
