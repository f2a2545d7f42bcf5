// Operations defined at run time, computed by the reference.
#include <catch2/catch.hpp>

#include <vector>

#include "reference/defined.hpp"
#include "spec/error.hpp"

namespace etalon {
namespace {

TEST_CASE("an operation defined at run time applies to host tensors") {
  const auto blend = define("blend(x[...]) {width = 1.0} -> y[...]\n"
                            "  y[...] = if abs(x[...]) < width then 0.5*x[...]*x[...] else width*(abs(x[...]) - 0.5*width)\n");
  const auto x = HostTensor::of<float>(Dims{4}, {0.5F, -0.25F, 3.0F, -2.0F});
  CHECK(blend(x) == HostTensor::of<float>(Dims{4}, {0.125F, 0.03125F, 2.5F, 1.5F}));
  CHECK(blend.set("width", 2.0)(x) == HostTensor::of<float>(Dims{4}, {0.125F, 0.03125F, 4.0F, 2.0F}));
  CHECK_THROWS_WITH(blend(HostTensor::of<std::int64_t>(Dims{1}, {1})), Catch::Contains("blend: x is i64, want a real type"));
  CHECK_THROWS_WITH(blend.set("widht", 1.0)(x), Catch::Contains("width"));
}

TEST_CASE("results and packs of an operation defined at run time") {
  const auto parts = define<2>("parts(a[n], b[n]? : int) -> low[n], high[n]\n"
                               "  low[i] = minimum(a[i], b[i] else 0)\n  high[i] = maximum(a[i], b[i] else 0)\n");
  const auto a = HostTensor::of<double>(Dims{2}, {-1.5, 2.0});
  CHECK(parts(a, spec::absent) ==
        std::vector{HostTensor::of<double>(Dims{2}, {-1.5, 0.0}), HostTensor::of<double>(Dims{2}, {0.0, 2.0})});
  const auto total = define("all_of(x#[n]) -> y[n]\n  y[i] = sum[t] x#t[i]\n");
  CHECK(total(std::vector{a, a, a}) == HostTensor::of<double>(Dims{2}, {-4.5, 6.0}));
}

}  // namespace
}  // namespace etalon
