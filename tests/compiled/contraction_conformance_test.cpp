// The suite's own cases, most of them too small for tiles, with every contraction in tiles.
#include <catch2/catch.hpp>
#include <sstream>
#include <utility>

#include "compiled/runtime/backend.hpp"
#include "conformance/conform.hpp"

using namespace etalon;

namespace {

void check_conforms(std::vector<std::string> operations, std::vector<spec::Mode> modes) {
  compiled::CompileOptions tiles;
  tiles.schedule.always = true;
  const auto backend = compiled::make_cpu_backend(tiles);
  conformance::ConformOptions options;
  options.backend_name = "cpu";
  options.operations = std::move(operations);
  options.modes = std::move(modes);
  options.dtypes = {DType::f32};
  options.jobs = 1;
  std::ostringstream console;
  const int status = run_conform(options, *backend, console);
  INFO(console.str());
  CHECK(status == 0);
}

}  // namespace

TEST_CASE("products and convolutions conform in tiles, however small", "[compiled][contractions]") {
  check_conforms({"matmul", "conv1d"}, {spec::Mode::forward, spec::Mode::vjp});
}

TEST_CASE("attention conforms in strips, however small", "[compiled][contractions][strips]") {
  check_conforms({"scaled_dot_product_attention", "multi_head_attention"}, {spec::Mode::forward, spec::Mode::jvp, spec::Mode::vjp});
}
