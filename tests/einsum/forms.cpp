// Definitions that come from specifications are treated like all others: derivatives in three ways, and conformance.
#include <catch2/catch.hpp>

#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../derivatives/covering.hpp"
#include "../reference/three_ways.hpp"
#include "conformance/conform.hpp"
#include "reference/backend.hpp"
#include "spec/einsum/einsum.hpp"
#ifdef ETALON_COMPILED
#include "compiled/runtime/backend.hpp"
#endif

using namespace etalon;

namespace {

struct Form {
  std::string_view specification;
  std::string_view semiring = "sum_product";
  std::string_view captures = "";
};

constexpr Form forms[] = {
    {"ij,jk->ik"}, {"...ij,...jk->...ik"}, {"ii->i"}, {"bij,bjk,ka->bia"},
    {"b|i->o; b|i => b|o"}, {"..v..|i; i => ..v.."}, {"1i=>i"}, {"i=>ii"}, {"i=>i2"}, {"i=>ij"},
    {"2*i+1=>i"}, {"s*i<+d*k; k=>i"}, {"2*i=+k; k=>i"}, {"c,oh<+kh,ow=+kw; o,c,kh,kw => o,oh,ow"},
    {"i=>2*i+1"}, {"i;k=>2*i+k"}, {"i,j=>i+3*j"}, {"i=>s*i+1"},
    {"a,c;b,c=>a^b,c"}, {"a^b=>b^a"}, {"a=>2^a"}, {"1^a=>a"}, {"a^a=>a"}, {"2*a;b=>b^a"},
    {"ij=>i", "sum_product", "j"}, {"ij;jk=>ik", "max_plus"}, {"ij=>j", "min_times"}, {"ij;j=>i", "max_min"},
    {"2*o<+k; k=>o", "max_plus"},
};
constexpr Form without_derivative[] = {{"ij,jk->ik", "any_all"}, {"i=>2*i", "all_any"}};
/// Infinite where nothing contributes, where differences have no meaning.
constexpr Form with_holes[] = {{"i=>2*i", "max_plus"}, {"o=+k; k=>o", "min_plus"}};

spec::DefinedOperation<spec::any_number> operation_of(const Form& f, const spec::Library& library = {}) {
  return einsum<spec::any_number>(f.specification, {f.semiring, f.captures}, library);
}

TEST_CASE("derivatives of specifications agree in three ways") {
  std::mt19937_64 engine(3);
  for (const Form& f : forms) {
    const auto operation = operation_of(f);
    INFO(operation.definition().text);
    const auto calls = test::covering_calls(operation.definition());
    CHECK(!calls.empty());
    std::size_t compared = 0;
    for (const auto& call : calls) {
      INFO(test::describe(call));
      const auto at = test::draw_point(call, engine, operation.library());
      REQUIRE(at);
      test::Agreement a = test::tangents_agree(at->instance.system, at->point, at->wrt, engine, true);
      a.join(test::cotangents_agree(at->instance.system, at->point, at->wrt, engine));
      a.join(test::second_derivatives_agree(at->instance.system, at->point, at->wrt, engine, true));
      CHECK(a.disagreement == "");
      compared += a.compared;
    }
    CHECK(compared > 0);
  }
}

/// Those that small tensors tell all about.
constexpr Form quick[] = {
    {"ii->i"}, {"1i=>i"}, {"i=>ii"}, {"s*i=>i"}, {"i=>2*i+1"}, {"a,c;b,c=>a^b,c"}, {"a^b=>b^a"}, {"a=>2^a"},
    {"ij=>i", "sum_product", "j"}, {"ij;j=>i", "max_min"}, {"ij,jk->ik", "any_all"},
};

void conforms(spec::Backend& backend, std::span<const Form> asked, std::vector<DType> dtypes) {
  conformance::ConformOptions options;
  options.backend_name = "test";
  options.jobs = 1;
  options.dtypes = std::move(dtypes);
  options.shrink_attempts = 40;
  for (const Form& f : asked) {
    const auto operation = operation_of(f, options.library);
    options.library = operation.library();
    options.operations.push_back(operation.name());
  }
  std::ostringstream console;
  const int code = run_conform(options, backend, console);
  INFO(console.str());
  CHECK(code == 0);
}

void conforms(spec::Backend& backend) {
  conforms(backend, forms, {});
  conforms(backend, without_derivative, {});
  conforms(backend, with_holes, {});
}

TEST_CASE("specifications conform on the reference") { conforms(*reference::make_reference_backend(), quick, {DType::f32}); }
TEST_CASE("all specifications conform on the reference", "[.all]") { conforms(*reference::make_reference_backend()); }

#ifdef ETALON_COMPILED
TEST_CASE("specifications conform when compiled") { conforms(*compiled::make_cpu_backend(), quick, {DType::f32}); }
TEST_CASE("all specifications conform when compiled", "[.all]") { conforms(*compiled::make_cpu_backend()); }
#endif

}  // namespace
