// Questions at which the two sides of a comparison are equal, roots are of next to nothing, and indices are ones set apart.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "conformance/cases.hpp"
#include "conformance/integers.hpp"
#include "conformance/plain_attributes.hpp"
#include "conformance/plan.hpp"
#include "conformance/thresholds.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/typing.hpp"

using namespace etalon;

namespace {

const std::string larger_of_two =
    "larger(x[n], u[n]) {share = 0.999, least = 1e-8} -> y[n]\n  y[i] = maximum(share*u[i], abs(x[i]) + least)\n";

std::vector<conformance::Case> asked(const spec::Library& library, const std::string& operation, conformance::Check check) {
  conformance::ConformOptions options;
  options.library = library;
  options.operations = {operation};
  options.checks = {check};
  std::vector<conformance::Case> found;
  for (const conformance::Unit& unit : conformance::plan(options)) {
    conformance::Cases cases(unit, options);
    while (auto next = cases.next()) {
      if (next->made) found.push_back(std::move(*next->made));
    }
  }
  return found;
}

double real_attribute(const spec::Attributes& given, const std::string& name, double otherwise) {
  const auto found = given.find(name);
  return found == given.end() ? otherwise : std::get<double>(found->second);
}

}  // namespace

TEST_CASE("both sides of a comparison are made equal where few digits allow it", "[classes]") {
  const spec::Definition d = spec::parse("f(x[n], u[n]) -> y[n]\n  y[i] = maximum(0.5*u[i], abs(x[i]) + 0.25)\n");
  REQUIRE(d.ok());
  const std::vector<std::optional<spec::ValueType>> operands(2, spec::ValueType{DType::f32, {4}});
  const spec::Instance instance = spec::instantiate(d, operands, {}, spec::Attributes{});
  std::size_t ties = 0;
  constexpr std::size_t draws = 40;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    conformance::Draw draw(seed);
    HostTensor x = conformance::draw_real(draw, conformance::Family::normal, DType::f32, {4});
    HostTensor u = conformance::draw_real(draw, conformance::Family::normal, DType::f32, {4});
    std::vector<HostTensor*> inputs{&x, &u};
    (void)conformance::meet_thresholds(instance.system, inputs, 3, conformance::Sides::equal, draw);
    bool tie = false;
    // Both sides are exact in double.
    for (std::size_t i = 0; i < 4; ++i) tie = tie || 0.5 * conformance::element(u, i) == std::abs(conformance::element(x, i)) + 0.25;
    ties += tie;
  }
  CHECK(ties > draws / 2);
}

TEST_CASE("derivatives of any definition are asked where its comparisons have equal sides", "[classes]") {
  const spec::Library library = spec::Library().with(larger_of_two);
  for (const auto check : {conformance::Check::jvp, conformance::Check::vjp}) {
    std::size_t ties = 0;
    for (const conformance::Case& c : asked(library, "larger", check)) {
      const double share = real_attribute(c.call.attributes, "share", 0.999), least = real_attribute(c.call.attributes, "least", 1e-8);
      for (std::size_t i = 0; i < static_cast<std::size_t>(c.operands[0]->dims.count()); ++i) {
        const double x = conformance::element(*c.operands[0], i), u = conformance::element(*c.operands[1], i);
        // Products of powers of two are exact, sums where nothing is lost by taking a side back.
        const double sum = std::abs(x) + least;
        int exponent = 0;
        ties += u != 0 && std::frexp(share, &exponent) == 0.5 && share * u == sum && sum - least == std::abs(x) && sum - std::abs(x) == least;
      }
    }
    CHECK(ties > 0);
  }
}

TEST_CASE("attributes that are small or have many digits become plain as far as typing allows", "[classes]") {
  const spec::Definition d =
      spec::parse("f(x[n]) {eps = 1e-5, share = 0.9, most = 2.0} -> y[n]\n  requires eps > 0\n  y[i] = share*minimum(x[i], most)/eps\n");
  const spec::Definition free = spec::parse("f(x[n]) {eps = 1e-5, share = 0.9, most = 2.0} -> y[n]\n  y[i] = share*minimum(x[i], most)/eps\n");
  REQUIRE((d.ok() && free.ok()));
  conformance::Assignment assignment;
  assignment.extents["n"] = 3;
  const auto powers = conformance::with_powers_of_two(d, assignment, DType::f32).attributes;
  CHECK(real_attribute(powers, "eps", 0) == 0.5);
  CHECK(real_attribute(powers, "share", 0) == 0.25);
  CHECK(powers.count("most") == 0);
  CHECK(conformance::without_small_summands(d, assignment, DType::f32) == assignment);
  const auto bare = conformance::without_small_summands(free, assignment, DType::f32).attributes;
  CHECK(real_attribute(bare, "eps", 1) == 0);
  CHECK(bare.size() == 1);
}

TEST_CASE("indices that are compared with a number are that number now and then", "[classes]") {
  const spec::Definition d = spec::parse("f(x[n], t[k] : int) -> y[k]\n  y[j] = if t[j] == -7 then 0 else (x[t[j]] else 1)\n");
  REQUIRE(d.ok());
  const std::vector<std::optional<spec::ValueType>> operands{spec::ValueType{DType::f32, {4}}, spec::ValueType{DType::i64, {12}}};
  const spec::Instance instance = spec::instantiate(d, operands, {}, spec::Attributes{});
  const auto roles = conformance::integer_roles(instance.system);
  REQUIRE(roles.size() == 2);
  CHECK(roles[1].apart == -7);
  CHECK(roles[1].extent == 4);
  std::size_t apart = 0, strayed = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    conformance::Draw draw(seed);
    const HostTensor t = conformance::draw_integer(draw, roles[1], DType::i64, {12}, {.chance = 0});
    for (const std::int64_t k : t.view<std::int64_t>()) {
      apart += k == -7;
      strayed += k != -7 && (k < 0 || k >= 4);
    }
  }
  CHECK(apart > 50);
  CHECK(strayed == 0);
}
