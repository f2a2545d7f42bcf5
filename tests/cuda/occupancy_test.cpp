// How many threads a GPU holds: numbers of its manual by hand, and the toolkit's own calculator on drawn launches.
#include <catch2/catch.hpp>

#include <random>

#include "cuda/occupancy.hpp"
#include "spec/error.hpp"

#ifdef ETALON_HAS_CUDA_HEADERS
#include <cuda_occupancy.h>
#endif

using namespace etalon;
using cuda::Gpu;
using cuda::LaunchNeeds;

TEST_CASE("a multiprocessor holds as many blocks as what runs out first allows", "[cuda][occupancy]") {
  const Gpu& h100 = cuda::gpu_of("sm_90");
  // By threads: 2048.
  CHECK(cuda::resident_blocks({1, 1024, 32, 0}, h100) == 2);
  CHECK(cuda::occupancy({1, 1024, 32, 0}, h100) == 1);
  // By places for blocks: 32 of one warp.
  CHECK(cuda::resident_blocks({1, 32, 16, 0}, h100) == 32);
  CHECK(cuda::occupancy({1, 32, 16, 0}, h100) == 0.5);
  // By registers: 65536 are 512 threads of 128.
  CHECK(cuda::resident_blocks({1, 256, 128, 0}, h100) == 2);
  CHECK(cuda::occupancy({1, 256, 128, 0}, h100) == 0.25);
  // One register more is a unit of eight more for each thread: 13 warps of 14 that were needed for two blocks of 7.
  CHECK(cuda::resident_blocks({1, 224, 129, 0}, h100) == 1);
  // By shared memory, of which each block takes one KiB more: 228 KiB are three of 75.
  CHECK(cuda::resident_blocks({1, 64, 32, 75U << 10U}, h100) == 3);
  CHECK(cuda::resident_blocks({1, 64, 32, 76U << 10U}, h100) == 2);
  CHECK(cuda::resident_blocks({1, 64, 32, 227U << 10U}, h100) == 1);
  // Not at all.
  CHECK(cuda::resident_blocks({1, 64, 32, (227U << 10U) + 1}, h100) == 0);
  CHECK(cuda::resident_blocks({1, 1025, 32, 0}, h100) == 0);
  CHECK(cuda::resident_blocks({1, 1024, 65, 0}, h100) == 0);
  CHECK(cuda::resident_blocks({1, 32, 256, 0}, h100) == 0);
  // The whole chip: 132 multiprocessors of 2048 threads.
  CHECK(cuda::threads_launched({132, 1024, 32, 0}, h100) == 0.5);
  CHECK(cuda::threads_launched({1, 1024, 32, 0}, h100) == Approx(1024.0 / 270336).epsilon(1e-12));
}

TEST_CASE("GPUs are known by their architecture", "[cuda][occupancy]") {
  CHECK(cuda::gpu_of("sm_80").multiprocessors == 108);
  CHECK(cuda::gpu_of("sm_90a").capability == 90);
  CHECK(cuda::gpu_of("sm_120").threads == 1536);
  for (const char* unknown : {"sm_8", "sm_900", "sm_90b", "compute_90", ""}) CHECK_THROWS_WITH(cuda::gpu_of(unknown), Catch::Contains("sm_120"));
}

#ifdef ETALON_HAS_CUDA_HEADERS
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
#endif
