#include <catch2/catch.hpp>

#include "spec/derivative/derivative.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/system/simplify.hpp"
#include "tests/spec/calculus/systems.hpp"
#include "tests/spec/notation_samples.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

std::vector<std::size_t> real_inputs(const System& s) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < s.inputs.size(); ++i) {
    if (kind_of(s[s.inputs[i]].dtype) == Kind::real) at.push_back(i);
  }
  return at;
}

bool has_real_output(const System& s) {
  for (const TensorId t : s.outputs) {
    if (kind_of(s[t].dtype) == Kind::real) return true;
  }
  return false;
}

/// The samples with something to differentiate, elaborated.
std::vector<std::pair<std::string, System>> differentiable() {
  std::vector<std::pair<std::string, System>> all;
  for (const Sample& s : samples()) {
    System system = instantiate(definition_named(s.operation), s.operands, s.packs, s.attributes).system;
    if (!real_inputs(system).empty() && has_real_output(system)) all.emplace_back(s.operation, std::move(system));
  }
  return all;
}

/// The points of the largest tensor of the system: what any derivative visits at least.
std::int64_t elements(const System& s) {
  std::int64_t n = 0;
  for (const TensorInfo& t : s.tensors) n += t.dims.count();
  return n;
}

}  // namespace

TEST_CASE("derivatives of every operation verify, to the second order", "[calculus][library]") {
  std::size_t count = 0;
  for (const auto& [name, system] : differentiable()) {
    CAPTURE(name);
    const auto wrt = real_inputs(system);
    const System forward = jvp(system, wrt);
    CHECK_NOTHROW(verify(forward));
    const System reverse = vjp(system, wrt);
    CHECK_NOTHROW(verify(reverse));
    CHECK_NOTHROW(verify(jvp(reverse, real_inputs(reverse))));
    CHECK_NOTHROW(verify(vjp(reverse, real_inputs(reverse))));
    ++count;
  }
  CHECK(count > 50);
}

namespace {

/// The derivative of a product has one product of the others for each factor.
std::int64_t products_of_others(const System& s) {
  std::int64_t n = 0;
  for (const Equation& e : s.equations) {
    for_each(e.value, [&](const Expr& x) {
      if (x.form() != Form::reduce || x->reduction != Reduction::prod) return;
      std::int64_t factors = s[e.target].dims.count();
      for (const Binder& b : x->binders) factors *= b.extent;
      n += factors * factors;
    });
  }
  return n;
}

}  // namespace

TEST_CASE("the VJP of every operation costs a small multiple of the operation", "[calculus][library]") {
  const auto all = differentiable();
  CHECK(all.size() > 50);
  for (const auto& [name, system] : all) {
    System forward = system;
    solve_guards(forward);
    System reverse = vjp(system, real_inputs(system));
    solve_guards(reverse);
    CAPTURE(name, to_text(reverse), etalon::test::points(forward), etalon::test::points(reverse));
    CHECK(etalon::test::points(reverse) <= 8 * (etalon::test::points(forward) + elements(forward)) + products_of_others(forward));
  }
}
