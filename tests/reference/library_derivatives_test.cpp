#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "samples.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using test::Agreement;
using test::Draw;
using test::Drawn;
using test::Sample;

namespace {

std::string label(const Sample& s) { return s.operation + "(" + s.attributes + ")"; }

/// Checks every sample and requires that each with something to differentiate compared something.
template <class Check>
void for_each_sample(Draw how, Check check) {
  std::mt19937_64 engine(20);
  std::size_t differentiable = 0;
  for (const Sample& sample : test::samples()) {
    INFO(label(sample));
    const Drawn d = test::draw(sample, how, engine);
    if (d.wrt.empty()) continue;
    ++differentiable;
    const Agreement a = check(d, engine);
    CHECK(a.disagreement == "");
    CHECK(a.compared > 0);
  }
  CHECK(differentiable > 0);
}

}  // namespace

TEST_CASE("every operation has a sample", "[derivatives]") {
  std::set<std::string, std::less<>> sampled;
  for (const Sample& s : test::samples()) sampled.insert(s.operation);
  REQUIRE(!spec::library().empty());
  for (const spec::Definition* d : spec::library()) {
    INFO(d->name);
    CHECK(sampled.count(d->name) == 1);
  }
}

TEST_CASE("tangents by dual numbers, equations and differences agree off the kinks", "[derivatives]") {
  for_each_sample(Draw::off_kinks, [](const Drawn& d, std::mt19937_64& engine) {
    return test::tangents_agree(d.instance.system, d.point, d.wrt, engine, true);
  });
}

TEST_CASE("cotangents by definition and by equations agree off the kinks", "[derivatives]") {
  for_each_sample(Draw::off_kinks, [](const Drawn& d, std::mt19937_64& engine) {
    return test::cotangents_agree(d.instance.system, d.point, d.wrt, engine);
  });
}

TEST_CASE("second derivatives agree in three ways off the kinks", "[derivatives]") {
  for_each_sample(Draw::off_kinks, [](const Drawn& d, std::mt19937_64& engine) {
    return test::second_derivatives_agree(d.instance.system, d.point, d.wrt, engine, true);
  });
}

TEST_CASE("dual numbers and equations make the same choice at kinks and ties", "[derivatives]") {
  for_each_sample(Draw::at_kinks, [](const Drawn& d, std::mt19937_64& engine) {
    Agreement a = test::tangents_agree(d.instance.system, d.point, d.wrt, engine, false);
    a.join(test::cotangents_agree(d.instance.system, d.point, d.wrt, engine));
    a.join(test::second_derivatives_agree(d.instance.system, d.point, d.wrt, engine, false));
    return a;
  });
}
