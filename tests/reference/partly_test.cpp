// Elements on demand: what is asked for alone has the value that it has in the whole evaluation, and what is open is
// only what needs more bits.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "reference/evaluate.hpp"
#include "reference/exact/precisions.hpp"
#include "reference/exact/scalar.hpp"
#include "samples.hpp"
#include "spec/derivative/derivative.hpp"

namespace {

using namespace etalon;
using Values = std::vector<reference::Array<double>>;

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }

/// Asks for about one element in `sparsity` and compares them; the number of elements compared.
std::size_t compare_asked(const spec::System& system, const Values& inputs, unsigned sparsity, std::mt19937_64& engine) {
  const Values whole = reference::evaluate<double>(system, inputs);
  reference::Selection asked = reference::everything(system);
  for (std::vector<bool>& elements : asked) {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = engine() % sparsity == 0;
  }
  const auto partly = reference::evaluate_partly<double>(system, inputs, asked);
  CHECK(!reference::any_of(partly.open));
  std::size_t compared = 0;
  for (std::size_t o = 0; o < asked.size(); ++o) {
    INFO("output " << o);
    for (std::size_t i = 0; i < asked[o].size(); ++i) {
      if (!asked[o][i]) continue;
      ++compared;
      if (whole[o].kind == Kind::real) CHECK(same(partly.outputs[o].real[i], whole[o].real[i]));
      else CHECK(partly.outputs[o].integer[i] == whole[o].integer[i]);
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("elements asked for alone are those of the whole evaluation", "[sound][exact]") {
  std::mt19937_64 engine(11);
  std::size_t compared = 0;
  for (const test::Sample& sample : test::samples()) {
    INFO(sample.operation << "(" << sample.attributes << ")");
    const test::Drawn d = test::draw(sample, test::Draw::positive, engine);
    compared += compare_asked(d.instance.system, d.point, 3, engine);
    if (d.wrt.empty()) continue;
    const spec::System back = spec::vjp(d.instance.system, d.wrt);
    Values inputs = d.point;
    for (std::size_t i = inputs.size(); i < back.inputs.size(); ++i) {
      inputs.push_back(test::random_reals(back[back.inputs[i]].dims, -2, 2, engine));
    }
    compared += compare_asked(back, inputs, 5, engine);
  }
  CHECK(compared > 1000);
}

TEST_CASE("one open element opens what reads it and nothing else", "[sound][exact]") {
  using T = reference::Precise<191>;
  using Array = reference::Array<T>;
  // d[i] = if x[i] + 1 - x[i] == 1 then 1 else 2, y[i] = d[i]·x[i]
  spec::System system;
  const spec::TensorId x = system.add_tensor("x", DType::f64, {3});
  const spec::TensorId d = system.add_tensor("d", DType::f64, {3});
  const spec::TensorId y = system.add_tensor("y", DType::f64, {3});
  system.inputs = {x};
  system.outputs = {y};
  const std::vector<spec::Binder> i = system.bind_all(d);
  const spec::Expr at = system.at(x, spec::variables(i));
  system.define(d, i, spec::select(spec::apply(spec::Primitive::eq, {at + spec::decimal(1) - at, spec::decimal(1)}), spec::decimal(1), spec::decimal(2)));
  const std::vector<spec::Binder> j = system.bind_all(y);
  system.define(y, j, system.at(d, spec::variables(j)) * system.at(x, spec::variables(j)));
  const std::vector<Array> inputs{Array::of_reals({3}, {T::of(2), T::of(1e300), T::of(3)})};
  const auto whole = reference::evaluate_partly<T>(system, inputs, reference::everything(system));
  CHECK(whole.open.at(0) == std::vector<bool>{false, true, false});
  CHECK(whole.outputs.at(0).real[0] == 2);
  CHECK_THAT(whole.question, Catch::Contains("[1]"));
  const auto others = reference::evaluate_partly<T>(system, inputs, {{true, false, true}});
  CHECK(others.open.at(0).empty());
  CHECK(others.question.empty());
  CHECK(others.outputs.at(0).real[2] == 3);
  CHECK_THROWS_AS(reference::evaluate<T>(system, inputs), reference::Undecided);
}
