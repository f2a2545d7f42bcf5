// Profile etalon-order-1: sums have one order, whatever vectors and caches a machine has.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "compiled/runtime/processor.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

/// A sum of so many numbers of a row each, and what a row's exponentials add up to.
spec::System row_sums(DType dtype, std::int64_t columns) {
  const std::string type(name_of(dtype));
  const std::string extent = std::to_string(columns);
  return spec::lower(spec::parse_program("input x : " + type + "[5, " + extent + "]\ns = sum(x) {axes = [1]}\ny = softmax(x)\nl = logsumexp(x)\noutput s, y, l\n"));
}

/// The bits that a system leaves in each setting are those of the first one.
void compare(const spec::System& system, std::uint32_t seed) {
  const std::vector<HostTensor> inputs = drawn_inputs(system, seed);
  compiled::CompileOptions options;
  options.device = std::make_shared<compiled::Processor>(compiled::machines::avx512);
  const std::vector<HostTensor> expected = outputs_of(system, options, inputs);
  for (const compiled::Machine& machine : {compiled::machines::avx512, compiled::machines::avx2}) {
    const auto processor = std::make_shared<compiled::Processor>(machine);
    for (const std::int64_t cache : {std::int64_t{256} << 10, std::int64_t{16} << 20}) {
      INFO(machine.name << ", " << cache << " bytes, seed " << seed);
      compiled::CompileOptions other;
      other.device = processor;
      other.schedule.near_cache_bytes = cache / 16;
      other.schedule.middle_cache_bytes = cache;
      other.schedule.last_cache_bytes = 4 * cache;
      CHECK(same_bits(outputs_of(system, other, inputs), expected));
    }
  }
}

}  // namespace

TEST_CASE("sums of rows of every length have the bits of every machine", "[sound]") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const std::int64_t columns : {2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 130, 1000}) {
      INFO(name_of(dtype) << ", " << columns << " columns");
      compare(row_sums(dtype, columns), static_cast<std::uint32_t>(columns));
    }
  }
}

TEST_CASE("drawn systems have the bits of every machine", "[sound]") {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) compare(drawn_system(seed, Sums::rounded), seed);
}

TEST_CASE("vectors of a machine are as wide as they are, and chains of a sum as many as the profile says", "[sound]") {
  const spec::System system = row_sums(DType::f32, 1000);
  std::vector<unsigned> chains, others;
  const std::function<void(const std::vector<compiled::loops::Step>&)> look = [&](const std::vector<compiled::loops::Step>& steps) {
    for (const compiled::loops::Step& step : steps) {
      if (const auto* r = std::get_if<compiled::loops::Reduce>(&step.is)) chains.push_back(r->tree.chains);
      const auto* loop = std::get_if<compiled::loops::Loop>(&step.is);
      if (loop == nullptr) continue;
      look(loop->steps);
      if (loop->in_lanes()) others.push_back(loop->width);
    }
  };
  const auto look_at = [&](const compiled::Machine& machine) {
    chains.clear();
    others.clear();
    for (const compiled::loops::Nest& nest : lowered(system, {}, machine).nests) look(nest.steps);
    return std::pair{chains, others};
  };
  const auto [sums, elements] = look_at({16, 32});
  const auto [narrow_sums, narrow_elements] = look_at({8, 16});
  CHECK(sums == narrow_sums);
  CHECK(std::count(sums.begin(), sums.end(), 4 * compiled::order_lanes_f32) >= 2);
  REQUIRE(!elements.empty());
  CHECK(elements.size() == narrow_elements.size());
  CHECK(narrow_elements.front() < elements.front());
}

}  // namespace etalon::test
