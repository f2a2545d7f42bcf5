// Sums of one term, choices whose first arm says nothing else, and conversions that lose nothing are told from others.
#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/adequacy/equivalence.hpp"
#include "tests/adequacy/folding.hpp"
#include "tests/adequacy/number_changes.hpp"

using namespace etalon;
using spec::Expr;
using spec::Primitive;

namespace {

Expr call(Primitive p, const Expr& a) { return spec::apply(p, {a}); }

// y = if s <= 0 then 0 else f(s), where s is a sum of squares, or of numbers.
bool may_leave_out_first_arm(bool squares, Primitive f) {
  spec::System system;
  const auto x = system.add_tensor("x", DType::f32, {3}), s = system.add_tensor("s", DType::f32, {}), y = system.add_tensor("y", DType::f32, {});
  system.inputs = {x};
  system.outputs = {y};
  const spec::Binder i = system.bind("i", 3);
  const Expr one = system.at(x, {spec::variable(i)});
  system.define(s, {}, spec::reduce(spec::Reduction::sum, {i}, spec::boolean(true), squares ? one * one : one));
  const Expr sum = system.at(s, {}), zero = spec::decimal(0);
  system.define(y, {}, spec::select(spec::apply(Primitive::le, {sum, zero}), zero, call(f, sum)));
  adequacy::Reaches reaches(system);
  for (const adequacy::Site& site : adequacy::sites_of(system, {false, true})) {
    if (site.node.form() != spec::Form::select) continue;
    const adequacy::Alternative a{adequacy::Sort::arm, "always the second arm", site.node->args[2]};
    return !adequacy::why_equivalent(system, site, a, reaches).empty();
  }
  FAIL("no choice was met");
  return false;
}

// y = x as another type; whether rounding to the type between is proved to lose nothing, or nothing where that is no mutant.
std::vector<bool> proofs_of_twice(DType from, DType to, bool given) {
  spec::System system;
  const auto x = system.add_tensor("x", from, {}), y = system.add_tensor("y", to, {});
  const auto source = given ? x : system.add_tensor("half", from, {});
  system.inputs = {x};
  system.outputs = {y};
  if (!given) system.define(source, {}, system.at(x, {}) * spec::decimal(5, -1));
  const Expr read = system.at(source, {});
  system.define(y, {}, read.kind() == Kind::integer ? call(Primitive::to_real, read) : read);
  std::vector<adequacy::Change> all;
  adequacy::add_number_changes(system, std::vector<bool>(system.equations.size(), true), 0, std::make_shared<adequacy::Reaches>(system), all);
  std::vector<bool> proofs;
  for (const adequacy::Change& c : all) {
    if (c.sort == adequacy::Sort::twice) proofs.push_back(!c.prove().empty());
  }
  return proofs;
}

}  // namespace

TEST_CASE("a reduction of one term is that term, where nothing guards it", "[adequacy]") {
  for (const std::int64_t extent : {1, 2}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {extent});
    const spec::Binder k = system.bind("k", extent);
    const Expr read = system.at(x, {spec::variable(k)}), first = system.at(x, {spec::integer(0)});
    const Expr sum = spec::reduce(spec::Reduction::sum, {k}, spec::boolean(true), read);
    CHECK((adequacy::folded(sum / spec::decimal(1)) == first) == (extent == 1));
    const Expr guard = spec::apply(Primitive::gt, {read, spec::decimal(0)});
    CHECK_FALSE(adequacy::folded(spec::reduce(spec::Reduction::sum, {k}, guard, read)) == first);
  }
}

TEST_CASE("a number divided by itself is 1 unless it is 0", "[adequacy]") {
  const Expr three = spec::decimal(3), zero = spec::decimal(0), one = spec::decimal(1);
  CHECK(adequacy::folded(three / three) == one);
  CHECK_FALSE(adequacy::folded(zero / zero) == one);
  CHECK_FALSE(adequacy::folded(three / one) == one);
}

TEST_CASE("the first arm of a choice may be left out where the second one is the same number there", "[adequacy]") {
  CHECK(may_leave_out_first_arm(true, Primitive::sqrt));
  CHECK_FALSE(may_leave_out_first_arm(false, Primitive::sqrt));
  CHECK_FALSE(may_leave_out_first_arm(true, Primitive::exp));
}

TEST_CASE("numbers of the wider type are rounded once, wider ones twice, and what is computed as it may be", "[adequacy]") {
  CHECK(proofs_of_twice(DType::f32, DType::f16, true) == std::vector<bool>{true});
  CHECK(proofs_of_twice(DType::f64, DType::f32, true) == std::vector<bool>{true});
  CHECK(proofs_of_twice(DType::f64, DType::f16, true) == std::vector<bool>{false});
  CHECK(proofs_of_twice(DType::i64, DType::f32, true) == std::vector<bool>{false});
  CHECK(proofs_of_twice(DType::f32, DType::f16, false).empty());
}

TEST_CASE("the only element of a row is its maximum where the guard holds there", "[adequacy]") {
  // e[j] = if m[j] then exp(x[j] - top) else 0 with top = max[k where m[k]] x[k] else 0, and s = sum[k] e[k]: s is 1 of one
  // element that m chooses.
  for (const std::int64_t extent : {1, 2}) {
    spec::System system;
    const auto x = system.add_tensor("x", DType::f32, {extent}), m = system.add_tensor("m", DType::boolean, {extent}),
               top = system.add_tensor("top", DType::f32, {}), e = system.add_tensor("e", DType::f32, {extent}), s = system.add_tensor("s", DType::f32, {});
    system.inputs = {x, m};
    system.outputs = {s};
    const spec::Binder k = system.bind("k", extent), j = system.bind("j", extent), n = system.bind("n", extent);
    const auto at = [&](spec::TensorId t, const spec::Binder& b) { return system.at(t, {extent == 1 ? spec::integer(0) : spec::variable(b)}); };
    system.define(top, {}, spec::reduce(spec::Reduction::max, {k}, at(m, k), at(x, k), spec::decimal(0)));
    system.define(e, {j}, spec::select(at(m, j), call(Primitive::exp, at(x, j) - system.at(top, {})), spec::decimal(0)));
    system.define(s, {}, spec::reduce(spec::Reduction::sum, {n}, spec::boolean(true), system.at(e, {spec::variable(n)})));
    adequacy::Reaches reaches(system);
    const Expr chosen = system.at(m, {spec::integer(0)});
    const adequacy::Reach there = reaches.of(system.at(s, {}), {}, {chosen}), anywhere = reaches.of(system.at(s, {}), {}, {});
    CHECK((there.low == 1 && there.high == 1) == (extent == 1));
    CHECK(anywhere.low == 0);
  }
}
