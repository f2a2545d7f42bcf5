// Kernels by hand on the emulator: threads that wait for each other, and what it refuses.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "cuda/emulator/object.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::cuda::emulator;
using Catch::Matchers::Contains;

namespace {

constexpr unsigned rows = 70, columns = 45;

/// One warp adds 32 numbers in a tree.
constexpr const char* tree = R"(
extern "C" __global__ void tree(const float *x, float *y) {
  float sum = x[blockIdx.x * 32 + threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
)";

/// Tiles of 32 × 32, eight rows of threads; BARRIER stands between writing a tile and reading it.
constexpr const char* transpose = R"(
extern "C" __global__ void __launch_bounds__(256) transpose(const float *x, float *y, int rows, int columns) {
  extern __shared__ float tile[];
  const int row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (row + r < rows && column + (int)threadIdx.x < columns) tile[33 * r + threadIdx.x] = x[(row + r) * columns + column + threadIdx.x];
  BARRIER;
  for (int r = threadIdx.y; r < 32; r += blockDim.y)
    if (column + r < columns && row + (int)threadIdx.x < rows) y[(column + r) * rows + row + threadIdx.x] = tile[33 * threadIdx.x + r];
}
)";
constexpr std::size_t tile_bytes = std::size_t{32} * 33 * sizeof(float);

std::shared_ptr<const Object> compiled_text(const std::string& text) { return compile({&text, 1}).front(); }

std::string with_barrier(const std::string& barrier) {
  std::string text = transpose;
  return text.replace(text.find("BARRIER"), std::strlen("BARRIER"), barrier);
}

/// Numbers whose sums depend on the order.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = std::sin(static_cast<float>(i)) * std::exp2(static_cast<float>(i % 23));
  return all;
}

float tree_sum(const float* x, std::size_t count) {
  if (count == 1) return *x;
  std::vector<float> halves(count / 2);
  for (std::size_t i = 0; i < count / 2; ++i) halves[i] = x[i] + x[i + count / 2];
  return tree_sum(halves.data(), count / 2);
}

std::vector<float> transposed(const Object& object, const std::vector<float>& x, std::uint64_t seed) {
  std::vector<float> y(x.size(), -1);
  const float* from = x.data();
  float* to = y.data();
  int r = rows, c = columns;
  void* values[] = {&from, &to, &r, &c};
  Course course(seed);
  object.launch("transpose", {{(columns + 31) / 32, (rows + 31) / 32, 1}, {32, 8, 1}, tile_bytes}, values, course);
  return y;
}

/// What the launch of a kernel with one block of so many threads is refused with; empty where it is not.
std::string refusal(const std::string& text, std::uint32_t threads, std::uint64_t seed) {
  const auto object = compiled_text(text);
  std::vector<int> memory(threads, 0);
  int* y = memory.data();
  void* values[] = {&y};
  Course course(seed);
  try {
    object->launch("k", {{1, 1, 1}, {threads, 1, 1}, 1024}, values, course);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

std::string kernel(const std::string& body) { return "extern \"C\" __global__ void k(int *y) {\n" + body + "\n}\n"; }

}  // namespace

TEST_CASE("lanes add in the tree that their shuffles say, in whatever order they run", "[cuda][emulator]") {
  const auto object = compiled_text(tree);
  CHECK(object->kernels() == std::vector<std::string>{"tree"});
  const std::vector<float> x = numbers(96);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<float> y(3);
    const float* from = x.data();
    float* to = y.data();
    void* values[] = {&from, &to};
    Course course(seed);
    object->launch("tree", {{3, 1, 1}, {32, 1, 1}, 0}, values, course);
    for (std::size_t b = 0; b < 3; ++b) CHECK(y[b] == tree_sum(x.data() + 32 * b, 32));
  }
}

TEST_CASE("a tile in shared memory is transposed, and not without its barrier", "[cuda][emulator]") {
  const std::vector<float> x = numbers(std::size_t{rows} * columns);
  const auto right = compiled_text(with_barrier("__syncthreads()")), wrong = compiled_text(with_barrier("__syncwarp()"));
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<float> y = transposed(*right, x, seed);
    std::size_t same = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) same += y[c * rows + r] == x[r * columns + c] ? 1 : 0;
    }
    CHECK(same == x.size());
    // Warps read what others have not written yet: nothing but NaN is there.
    const std::vector<float> missing = transposed(*wrong, x, seed);
    CHECK(std::count_if(missing.begin(), missing.end(), [](float v) { return std::isnan(v); }) > 0);
  }
}

TEST_CASE("shuffles of all kinds and widths take what CUDA's documentation says", "[cuda][emulator]") {
  const std::string text = kernel(R"(
  const int lane = threadIdx.x;
  y[lane] = __shfl_sync(0xffffffffu, lane, 35) + 100 * __shfl_sync(0xffffffffu, lane, 9, 8) + 10000 * __shfl_xor_sync(0xffffffffu, lane, 5)
      + 1000000 * (__shfl_up_sync(0xffffffffu, lane, 3, 16) - __shfl_down_sync(0xffffffffu, lane, 2, 8)) + 0 * __shfl_xor_sync(0xffffffffu, lane, 31, 4);)");
  const auto object = compiled_text(text);
  std::vector<int> y(32);
  int* to = y.data();
  void* values[] = {&to};
  Course course(1);
  object->launch("k", {{1, 1, 1}, {32, 1, 1}, 0}, values, course);
  for (int lane = 0; lane < 32; ++lane) {
    const int up = lane % 16 < 3 ? lane : lane - 3, down = lane % 8 + 2 < 8 ? lane + 2 : lane;
    CHECK(y[static_cast<std::size_t>(lane)] == 3 + 100 * (lane / 8 * 8 + 1) + 10000 * (lane ^ 5) + 1000000 * (up - down));
  }
}

TEST_CASE("threads that wait for some that do not come are refused by name", "[cuda][emulator]") {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    // Some are done, some are at another barrier.
    CHECK_THAT(refusal(kernel("y[threadIdx.x] = 0; if (threadIdx.x < 33) return;\n__syncthreads();"), 64, seed), Contains("k: thread") && Contains("waits at a barrier") && Contains("is done"));
    CHECK_THAT(refusal(kernel("y[threadIdx.x] = 0; if (threadIdx.x < 33) __syncthreads();\nelse\n__syncthreads();"), 64, seed), Contains("k: thread") && Contains("at line 2") && Contains("line 4"));
    CHECK_THAT(refusal(kernel("y[threadIdx.x] = 0; if (threadIdx.x != 7) __syncwarp();"), 32, seed), Contains("k: thread") && Contains("0xffffffff that do not come"));
    // A lane reads one that its mask leaves out, or is left out itself.
    CHECK_THAT(refusal(kernel("if (threadIdx.x < 16) y[0] = __shfl_down_sync(0xffffu, 1, 8);"), 32, seed), Contains("k: thread") && Contains("reads lane") && Contains("0xffff"));
    CHECK_THAT(refusal(kernel("y[0] = __shfl_sync(0xffffu, 1, 0);"), 32, seed), Contains("k: thread") && Contains("is not in its mask 0xffff"));
    // The last warp of a block may have fewer lanes than its mask names.
    CHECK(refusal(kernel("y[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);\n__syncthreads();"), 40, seed).empty());
    CHECK_THAT(refusal(kernel("y[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 20);"), 40, seed), Contains("reads lane 20"));
  }
}

TEST_CASE("what the emulator does not run is an error of one line", "[cuda][emulator]") {
  const std::string fixed = kernel("__shared__ int tile[32]; tile[threadIdx.x] = 1;"), undeclared = kernel("undeclared = 1;");
  CHECK_THROWS_WITH(compile({&fixed, 1}), Contains("shared memory"));
  CHECK_THROWS_WITH(compile({&undeclared, 1}), Contains("undeclared"));
  const auto object = compiled_text(tree);
  Course course(1);
  CHECK_THROWS_WITH(object->launch("other", {}, nullptr, course), Contains("no kernel `other`"));
}

TEST_CASE("texts with the same names are compiled at once", "[cuda][emulator]") {
  const std::vector<std::string> texts{kernel("y[threadIdx.x] = 1;"), kernel("y[threadIdx.x] = 2;")};
  const auto objects = compile(texts);
  REQUIRE(objects.size() == 2);
  for (std::size_t n = 0; n < 2; ++n) {
    int y[3] = {0, 0, 0};
    int* to = y;
    void* values[] = {&to};
    Course course(n);
    objects[n]->launch("k", {{1, 1, 1}, {3, 1, 1}, 0}, values, course);
    for (const int v : y) CHECK(v == static_cast<int>(n) + 1);
  }
}
