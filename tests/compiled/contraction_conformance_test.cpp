// The suite's own cases, most of them too small for tiles, with every contraction in tiles.
#include <catch2/catch.hpp>
#include <sstream>

#include "compiled/backend.hpp"
#include "conformance/conform.hpp"

using namespace etalon;

TEST_CASE("products and convolutions conform in tiles, however small", "[compiled][contractions]") {
  compiled::CompileOptions tiles;
  tiles.schedule.always = true;
  const auto backend = compiled::make_cpu_backend(tiles);
  conformance::ConformOptions options;
  options.backend_name = "cpu";
  options.operations = {"matmul", "conv1d"};
  options.modes = {spec::Mode::forward, spec::Mode::vjp};
  options.dtypes = {DType::f32};
  options.jobs = 1;
  std::ostringstream console;
  const int status = run_conform(options, *backend, console);
  INFO(console.str());
  CHECK(status == 0);
}
