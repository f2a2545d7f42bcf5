// The bench's workloads on another architecture: their digests are those of this machine.
#include <catch2/catch.hpp>

#include "tests/aarch64/emulated_device.hpp"
#include "tools/bench/bits.hpp"

using namespace etalon;
using namespace etalon::test;

TEST_CASE("workloads of the bench have the digests of this machine on AArch64", "[aarch64]") {
  const auto device = emulated_or_skipped(compiled::machines::neon);
  std::vector<const char*> names{"train-moons", "moons-jvp", "moons-vjp", "gemm-64", "gemm-gpt"};
  // These compute logarithms.
  if (device->has_functions()) names.insert(names.end(), {"train-mlp", "train-cnn", "train-gpt"});
  else WARN("without steps that call the mathematical library, which is not here for AArch64 (ETALON_SLEEF_AARCH64)");
  for (const char* name : names) {
    INFO(name);
    const bench::Bits found = bench::bits_of(bench::workload_named(name), std::vector{bench::Setting{}, bench::Setting{.device = device}}, 1);
    INFO(found.different);
    REQUIRE(found.hashes.size() == 2);
    CHECK(found.hashes[0] == found.hashes[1]);
    CHECK(found.bytes > 0);
  }
  CHECK(device->runs() == names.size() * bench::runs_compared);
}
