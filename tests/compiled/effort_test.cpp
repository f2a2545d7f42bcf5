// How much the code generator tries hangs on the work of all kernels together.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "compiled/emit/llvm/effort.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon::compiled;

TEST_CASE("kernels that do little together are compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(3);
  constexpr double little = threshold<double>("little_work");
  for (loops::Nest& nest : nests) nest.work = little / 8;
  CHECK(effort_for(nests) == Effort::hasty);
  nests[1].work = 2 * little;
  CHECK(effort_for(nests) == Effort::full);
  nests.assign(40, nests[0]);
  CHECK(effort_for(nests) == Effort::full);
}

TEST_CASE("contractions are never compiled hastily", "[codegen]") {
  std::vector<loops::Nest> nests(1);
  loops::Loop rows;
  rows.steps.push_back({loops::Contract{}});
  nests[0].steps.push_back({std::move(rows)});
  nests[0].work = 100;
  CHECK(effort_for(nests) == Effort::full);
}

TEST_CASE("the first rows of many that are compiled with care have the bits of few that are compiled hastily", "[codegen]") {
  using namespace etalon;
  constexpr std::int64_t few = 2, many = 3000, columns = 9;
  const auto system_of = [](std::int64_t rows) {
    const std::string type = "f32[" + std::to_string(rows) + ", 9]";
    return spec::lower(spec::parse_program("input x : " + type + "\ninput d : " + type +
                                           "\ny = softmax(x)\nt = tanh(x)\nz = mul(t, d)\nc = gt(x, d)\nw = where(c, z, y)\nm = mul(w, d)\nr = round(m)\n"
                                           "g = vjp(y; x; d)\noutput y, t, z, w, r, g\n"));
  };
  const auto effort_of = [&](std::int64_t rows) { return effort_for(lower_to_loops(system_of(rows), {}, {}, machines::all.back()).nests); };
  REQUIRE(effort_of(few) == Effort::hasty);
  REQUIRE(effort_of(many) == Effort::full);
  const std::vector<HostTensor> all{test::normal_numbers(DType::f32, {many, columns}, 1), test::normal_numbers(DType::f32, {many, columns}, 2)};
  std::vector<HostTensor> first{HostTensor(DType::f32, {few, columns}), HostTensor(DType::f32, {few, columns})};
  for (std::size_t i = 0; i < first.size(); ++i) std::memcpy(first[i].bytes.data(), all[i].bytes.data(), first[i].bytes.size());
  const std::vector<HostTensor> careful = compile_system(system_of(many)).run(all), hasty = compile_system(system_of(few)).run(first);
  REQUIRE(hasty.size() == 6);
  for (std::size_t o = 0; o < hasty.size(); ++o) {
    INFO(o);
    REQUIRE(hasty[o].bytes.size() == static_cast<std::size_t>(few * columns) * 4);
    CHECK(std::memcmp(hasty[o].bytes.data(), careful[o].bytes.data(), hasty[o].bytes.size()) == 0);
    CHECK(std::any_of(hasty[o].bytes.begin(), hasty[o].bytes.end(), [](std::byte b) { return b != std::byte{}; }));
  }
}
