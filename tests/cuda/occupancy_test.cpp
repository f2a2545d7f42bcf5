// How many threads a GPU holds: numbers of its manual by hand.
#include <catch2/catch.hpp>

#include "cuda/occupancy.hpp"
#include "spec/error.hpp"

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
  CHECK(cuda::threads_launched({1, 1024, 32, 0}, h100) == 1024.0 / 270336);
}

TEST_CASE("GPUs are known by their architecture", "[cuda][occupancy]") {
  CHECK(cuda::gpu_of("sm_80").multiprocessors == 108);
  CHECK(cuda::gpu_of("sm_90a").capability == 90);
  CHECK(cuda::gpu_of("sm_120").threads == 1536);
  for (const char* unknown : {"sm_8", "sm_900", "sm_90b", "compute_90", ""}) CHECK_THROWS_WITH(cuda::gpu_of(unknown), Catch::Contains("sm_120"));
}
