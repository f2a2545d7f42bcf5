// Workloads of the bench that call no function of a library, the longest aside: their digests on the emulated GPU are the processor's.
#include <catch2/catch.hpp>

#include <memory>
#include <vector>

#include "cuda/emulator/emulator.hpp"
#include "tools/bench/bits.hpp"

using namespace etalon;

TEST_CASE("workloads of the bench have the digests of the processor on the emulated device", "[cuda][emulator]") {
  const auto emulator = std::make_shared<cuda::emulator::Emulator>(5);
  const std::vector<bench::Setting> settings{{}, {.device = emulator}};
  for (const char* name : {"gemm-64", "gemm-gpt", "train-moons", "moons-forward", "moons-jvp", "moons-vjp", "mlp-forward", "mlp-vjp", "conv-16-32-forward", "conv-16-32-data", "conv-16-32-weights",
                           "layer-norm", "softmax", "gelu-chain", "attention"}) {
    INFO(name);
    const bench::Bits found = bench::bits_of(bench::workload_named(name), settings, 1);
    INFO(found.different);
    REQUIRE(found.hashes.size() == 2);
    CHECK(found.hashes[0] == found.hashes[1]);
    CHECK(found.bytes > 0);
  }
}
