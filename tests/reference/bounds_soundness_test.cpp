// No conforming evaluation lies outside its envelope, nor one that computes elements anew outside both that admit it.
#include <catch2/catch.hpp>
#include <functional>

#include "bounds_systems.hpp"
#include "bounds_trials.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

using Build = std::function<spec::System(DType)>;

template <class T>
Count simulate(const Build& build, Elements elements, const std::vector<std::string>& positive = {}) {
  const spec::System system = build(dtype_of<T>);
  const spec::Contract contract;
  Count count;
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const auto inputs = random_inputs(system, random, static_cast<int>(seed % 6), positive);
    try_inputs<T>(system, inputs, contract, contract, elements, seed * 1000, 16, count);
  }
  return count;
}

template <class T>
void sound(const char* name, const Build& build, const std::vector<std::string>& positive = {}, double useful = 0.9) {
  for (const Elements elements : {Elements::stored, Elements::anew}) {
    const Count c = simulate<T>(build, elements, positive);
    INFO(name << (elements == Elements::anew ? ", elements anew: " : ": ") << c.text());
    report(name, c);
    CHECK(c.offenders == 0);
    CHECK(c.comparisons > 0);
    CHECK(static_cast<double>(c.comparisons) >= useful * static_cast<double>(c.comparisons + c.undecided));
    // The bound is near what happens: some run comes within a factor of 2000 of it.
    CHECK(c.worst > 0.0005);
  }
}

/// Elements h that are read twice: z is their difference, w decides on them, s sums them up.
spec::System shared_elements(DType dtype, std::int64_t n, double third = 1 / 3.0) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto h = b.local("h", {n});
  const auto z = b.output("z", {n});
  const auto w = b.output("w", {n});
  const auto s = b.output("s", {});
  auto i = b.bind(n);
  b.s.define(h, {i}, b.at(x, i) * b.at(x, i) + function(Primitive::exp, b.at(x, i)) * number(third));
  i = b.bind(n);
  b.s.define(z, {i}, b.at(h, i) - b.at(h, i));
  i = b.bind(n);
  const Expr large = spec::apply(Primitive::ge, {b.at(h, i), b.at(x, i) * b.at(x, i)});
  b.s.define(w, {i}, spec::select(large, b.at(h, i), -b.at(h, i)));
  i = b.bind(n);
  b.s.define(s, {}, Builder::sum(i, b.at(h, i) - number(0.1) * b.at(x, i)));
  return b.s;
}

}  // namespace

TEMPLATE_TEST_CASE("conforming evaluations lie inside", "[bounds]", float, double) {
  sound<TestType>("sum", [](DType d) { return sum_system(d, 97); });
  sound<TestType>("matmul", [](DType d) { return matmul_system(d, 3, 33, 4); });
  sound<TestType>("linear", [](DType d) { return matmul_system(d, 3, 17, 4, true); });
  sound<TestType>("softmax", [](DType d) { return softmax_system(d, 3, 9); });
  sound<TestType>("log_softmax", [](DType d) { return log_softmax_system(d, 3, 9); });
  sound<TestType>("layer_norm", [](DType d) { return layer_norm_system(d, 3, 12); });
  sound<TestType>("chain", [](DType d) { return chain_system(d, 40); });
  sound<TestType>("functions", [](DType d) { return functions_system(d, 20); }, {}, 0.6);
  sound<TestType>("cross_entropy", [](DType d) { return cross_entropy_system(d, 5, 7); });
  sound<TestType>("adam", [](DType d) { return adam_system(d, 20); }, {"v"});
  sound<TestType>("hinge", [](DType d) { return hinge_vjp_system(d, 40); });
  sound<TestType>("product", [](DType d) { return product_system(d, 6); }, {}, 0.5);
}

TEMPLATE_TEST_CASE("elements computed anew where they are read are admitted by the schema alone", "[bounds]", float, double) {
  const Build build = [](DType d) { return shared_elements(d, 12); };
  const Count anew = simulate<TestType>(build, Elements::anew);
  INFO(anew.text());
  report("shared elements", anew);
  CHECK(anew.offenders == 0);
  // Where each reader has its own h, their difference is no longer 0.
  CHECK(anew.only_anew > 20);
  CHECK(simulate<TestType>(build, Elements::stored).offenders == 0);
}

TEMPLATE_TEST_CASE("the schema admits no other elements", "[bounds]", float, double) {
  const spec::System system = shared_elements(dtype_of<TestType>, 12);
  const spec::System other = shared_elements(dtype_of<TestType>, 12, 0.334);
  const spec::Contract contract;
  std::mt19937 random(1);
  const auto inputs = random_inputs(system, random, 0);
  const Admission admission(system, inputs, contract, Elements::anew);
  for (unsigned run = 0; run < 20; ++run) {
    const auto got = Simulator<TestType>(other, inputs, contract, run, Elements::anew).run();
    CHECK_FALSE(admission.judge(got).worst.passed());
  }
}

}  // namespace etalon
