// How many threads a GPU holds: the toolkit's own calculator on drawn launches.
#include <cuda_occupancy.h>

#include <catch2/catch.hpp>

#include <random>

#include "cuda/occupancy.hpp"

using namespace etalon;
using cuda::Gpu;
using cuda::LaunchNeeds;

namespace {

int blocks_by_the_toolkit(const LaunchNeeds& needs, const Gpu& gpu) {
  cudaOccDeviceProp device;
  device.computeMajor = gpu.capability / 10;
  device.computeMinor = gpu.capability % 10;
  device.maxThreadsPerBlock = static_cast<int>(gpu.block_threads);
  device.maxThreadsPerMultiprocessor = static_cast<int>(gpu.threads);
  device.regsPerBlock = device.regsPerMultiprocessor = static_cast<int>(gpu.registers);
  device.warpSize = 32;
  device.sharedMemPerBlock = 48U << 10U;
  device.sharedMemPerMultiprocessor = gpu.shared_bytes;
  device.numSms = static_cast<int>(gpu.multiprocessors);
  device.sharedMemPerBlockOptin = gpu.block_shared_bytes;
  device.reservedSharedMemPerBlock = gpu.kept_shared_bytes;
  cudaOccFuncAttributes kernel{};
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = static_cast<int>(needs.registers);
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = needs.shared_bytes;
  kernel.numBlockBarriers = 1;
  cudaOccDeviceState state{};
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result{};
  REQUIRE(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, static_cast<int>(needs.threads), needs.shared_bytes) == CUDA_OCC_SUCCESS);
  return result.activeBlocksPerMultiprocessor;
}

}  // namespace

TEST_CASE("the toolkit's calculator agrees on every launch that is drawn", "[cuda][occupancy]") {
  std::mt19937_64 draw(9);
  std::size_t possible = 0;
  for (int n = 0; n < 30000; ++n) {
    const Gpu& gpu = cuda::gpus[draw() % cuda::gpus.size()];
    const std::size_t most_shared = draw() % 4 == 0 ? gpu.block_shared_bytes : 32U << 10U;
    const LaunchNeeds needs{1, 1 + draw() % 1024, 1 + draw() % 255, draw() % 3 == 0 ? 0 : draw() % most_shared};
    INFO("sm_" << gpu.capability << ": " << needs.threads << " threads of " << needs.registers << " registers, " << needs.shared_bytes << " bytes");
    const std::size_t found = cuda::resident_blocks(needs, gpu);
    CHECK(static_cast<int>(found) == blocks_by_the_toolkit(needs, gpu));
    possible += found > 0 ? 1 : 0;
  }
  CHECK(possible > 10000);
}
