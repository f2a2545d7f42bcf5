// Names of generated functions for perf.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

TEST_CASE("generated functions are named for perf when asked", "[compiled][perf]") {
  const std::filesystem::path map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  System s;
  const TensorId x = input(s, "x", DType::f32, {7});
  const TensorId y = output(s, "shifted", DType::f32, {7});
  const auto b = s.bind_all(y);
  s.define(y, b, s.at(x, variables(b)) + spec::decimal(1));
  (void)compiled::compile_system(s, options());
  CHECK_FALSE(std::filesystem::exists(map));
  setenv("ETALON_PERF_MAP", "1", 1);
  const compiled::Executable e = compiled::compile_system(s, options());
  unsetenv("ETALON_PERF_MAP");
  std::ifstream file(map);
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
  REQUIRE(file >> std::hex >> address >> size >> name);
  CHECK(address != 0);
  CHECK(size > 0);
  CHECK(name == "etalon:0:shifted");
  std::filesystem::remove(map);
}
