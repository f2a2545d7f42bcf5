#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "reference/differentiate.hpp"
#include "samples.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using test::Agreement;
using test::Draw;
using test::Drawn;
using test::Sample;

namespace {

std::string label(const Sample& s) { return s.operation + "(" + s.attributes + ")"; }

bool all_finite(const std::vector<reference::Array<double>>& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& a) {
    return std::all_of(a.real.begin(), a.real.end(), [](double x) { return std::isfinite(x); });
  });
}

/// Whether the values and the first derivatives of all elements are finite: a point where there is something to agree
/// on. Whether infinities agree is asked of the special values.
bool inside_the_domain(const Drawn& d, std::mt19937_64& engine) {
  std::vector<std::optional<reference::Array<double>>> tangents(d.point.size());
  for (const std::size_t k : d.wrt) tangents[k] = test::random_reals(d.point[k].dims, -2, 2, engine);
  const auto at = reference::jvp_by_definition<double>(d.instance.system, d.point, tangents);
  std::vector<reference::Array<double>> all = at.outputs;
  for (const auto& t : at.tangents) {
    if (t) all.push_back(*t);
  }
  return all_finite(all);
}

/// A point inside the domain, if a few draws meet one.
Drawn draw_inside(const Sample& sample, Draw how, std::mt19937_64& engine) {
  Drawn d = test::draw(sample, how, engine);
  for (int attempt = 0; attempt < 40 && !d.wrt.empty() && !inside_the_domain(d, engine); ++attempt) {
    d = test::draw(sample, how == Draw::off_kinks && attempt % 2 == 0 ? Draw::positive : how, engine);
  }
  return d;
}

/// Checks every sample and requires that each with something to differentiate compared something.
template <class Check>
void for_each_sample(Draw how, Check check) {
  std::mt19937_64 engine(20);
  std::size_t differentiable = 0;
  for (const Sample& sample : test::samples()) {
    INFO(label(sample));
    const Drawn d = draw_inside(sample, how, engine);
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
