// Asynchronous copies of kernels by hand on the emulator: they happen at some moment before the wait for them, and what cannot be is refused.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/emulator/object.hpp"
#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::cuda::emulator;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint32_t threads = 64;
constexpr std::uint64_t courses = 20;

/// A kernel over x, four numbers for each thread, and y, as many; the block shares as much.
std::string kernel(const std::string& body) {
  return "extern \"C\" __global__ void k(float *x, float *y) {\n  extern __shared__ float shared[];\n  const int t = threadIdx.x;\n" + body + "\n}\n";
}

/// What y is afterwards; x counts from one.
std::vector<float> run(const Object& object, std::uint64_t seed) {
  std::vector<float> x(4 * threads), y(4 * threads, -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  float *from = x.data(), *to = y.data();
  std::array<void*, 2> values{&from, &to};
  Extent extent;
  extent.threads.x = threads;
  extent.shared_bytes = 16 * threads;
  Course course(seed);
  object.launch("k", extent, values.data(), course);
  return y;
}

std::shared_ptr<const Object> compiled_kernel(const std::string& body) {
  const std::string text = kernel(body);
  return compile({&text, 1}).front();
}

/// Of the numbers of many courses, how many are what is asked, and how many NaN.
struct Seen {
  std::size_t expected = 0, other = 0, nan = 0, unlike = 0;
};

/// \param expected and \param other of the n-th number
template <class Expected, class Other>
Seen seen_of(const std::string& body, Expected expected, Other other) {
  const auto object = compiled_kernel(body);
  Seen seen;
  for (std::uint64_t seed = 1; seed <= courses; ++seed) {
    const std::vector<float> y = run(*object, seed);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] == expected(i)) ++seen.expected;
      else if (y[i] == other(i)) ++seen.other;
      else if (std::isnan(y[i])) ++seen.nan;
      else ++seen.unlike;
    }
  }
  return seen;
}

constexpr std::size_t all = courses * 4 * threads;
float nothing(std::size_t) { return -1; }

/// What a launch is refused with; empty where it is not.
std::string refusal(const std::string& body) {
  try {
    (void)run(*compiled_kernel(body), 3);
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

const std::string own_copy = "  copy_past_cache_16(shared + 4 * t, x + 4 * t, 16);\n";
const std::string stored = "  for (int i = 0; i < 4; ++i) y[4 * t + i] = ";

}  // namespace

TEST_CASE("what was copied is there for all behind the wait and a barrier", "[cuda][emulator][copies]") {
  const auto turned = [](std::size_t i) { return static_cast<float>(4 * (threads - 1 - i / 4) + i % 4 + 1); };
  const Seen sound = seen_of(own_copy + "  close_copies();\n  wait_for_copies<0>();\n  __syncthreads();\n" + stored + "shared[4 * (63 - t) + i];", turned, nothing);
  CHECK(sound.expected == all);
  const Seen no_barrier = seen_of(own_copy + "  close_copies();\n  wait_for_copies<0>();\n" + stored + "shared[4 * (63 - t) + i];", turned, nothing);
  CHECK(no_barrier.nan > 0);
  CHECK(no_barrier.expected + no_barrier.nan == all);
}

TEST_CASE("until it is waited for a copy may have happened or not", "[cuda][emulator][copies]") {
  const auto own = [](std::size_t i) { return static_cast<float>(i + 1); };
  const Seen early = seen_of(own_copy + "  close_copies();\n" + stored + "shared[4 * t + i];\n  wait_for_copies<0>();", own, nothing);
  CHECK(early.expected > 0);
  CHECK(early.nan > 0);
  CHECK(early.expected + early.nan == all);
  // One that was waited for though it is in no group, and the last of two groups.
  const Seen unclosed = seen_of(own_copy + "  wait_for_copies<0>();\n" + stored + "shared[4 * t + i];\n  close_copies();\n  wait_for_copies<0>();", own, nothing);
  CHECK(unclosed.nan > 0);
  const std::string halves = "  copy_by_cache_8(shared + 4 * t, x + 4 * t, 8);\n  close_copies();\n  copy_by_cache_8(shared + 4 * t + 2, x + 4 * t + 2, 8);\n  close_copies();\n";
  const auto object = compiled_kernel(halves + "  wait_for_copies<1>();\n" + stored + "shared[4 * t + i];\n  wait_for_copies<0>();");
  std::size_t missing = 0, wrong = 0;
  for (std::uint64_t seed = 1; seed <= courses; ++seed) {
    const std::vector<float> y = run(*object, seed);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (i % 4 < 2) wrong += y[i] == own(i) ? 0 : 1;
      else missing += std::isnan(y[i]) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  CHECK(missing > 0);
}

TEST_CASE("what is read or overwritten meanwhile is the one or the other", "[cuda][emulator][copies]") {
  const std::string waits = "  close_copies();\n  __syncwarp();\n", then = "  __syncwarp();\n  wait_for_copies<0>();\n" + stored + "shared[4 * t + i];";
  const auto own = [](std::size_t i) { return static_cast<float>(i + 1); };
  const auto seven = [](std::size_t) { return 7.0F; };
  for (const char* memory : {"x", "shared"}) {
    INFO(memory);
    const Seen seen = seen_of(own_copy + waits + "  for (int i = 0; i < 4; ++i) " + memory + "[4 * t + i] = 7;\n" + then, own, seven);
    CHECK(seen.expected > 0);
    CHECK(seen.other > 0);
    CHECK(seen.expected + seen.other == all);
  }
}

TEST_CASE("what is not asked for is zero, and nothing is read for it", "[cuda][emulator][copies]") {
  const auto first = [](std::size_t i) { return i % 4 == 0 ? static_cast<float>(i + 1) : 0.0F; };
  const std::string then = "  close_copies();\n  wait_for_copies<0>();\n" + stored + "shared[4 * t + i];";
  CHECK(seen_of("  copy_past_cache_16(shared + 4 * t, x + 4 * t, 4);\n" + then, first, nothing).expected == all);
  CHECK(seen_of("  copy_past_cache_16(shared + 4 * t, (float *)64, 0);\n" + then, [](std::size_t) { return 0.0F; }, nothing).expected == all);
}

TEST_CASE("copies that cannot be are refused by one line", "[cuda][emulator][copies]") {
  const std::string waited = "  close_copies();\n  wait_for_copies<0>();\n";
  CHECK(refusal(own_copy + waited).empty());
  const std::string left = refusal(own_copy + "  close_copies();");
  CHECK_THAT(left, Contains("k: thread ") && Contains(" of a block of 64, at line 4, asks for a copy and ends without having waited for it"));
  CHECK_THAT(refusal(own_copy + "  wait_for_copies<0>();"), Contains("ends without having waited"));
  CHECK_THAT(refusal(own_copy + "  close_copies();\n  wait_for_copies<1>();"), Contains("ends without having waited"));
  CHECK_THAT(refusal("  copy_past_cache_16(shared + 4 * t + 1, x + 4 * t, 16);\n" + waited), Contains("at line 4, asks for a copy of 16 bytes to what is at no multiple of them"));
  CHECK_THAT(refusal("  copy_past_cache_16(shared + 4 * t, x + 4 * t + 2, 16);\n" + waited), Contains("copy of 16 bytes from what is at no multiple"));
  CHECK_THAT(refusal("  copy_by_cache_8(shared + 2 * t + 1, x, 8);\n" + waited), Contains("copy of 8 bytes to what"));
  CHECK_THAT(refusal("  copy_past_cache_16(shared + 4 * t + 4, x, 16);\n" + waited), Contains("thread 63 ") && Contains("to what is not its block's memory"));
  CHECK_THAT(refusal("  copy_past_cache_16(y + 4 * t, x + 4 * t, 16);\n" + waited), Contains("to what is not its block's memory"));
  CHECK_THAT(refusal("  copy_by_cache_4(shared + t, x + t, 8);\n" + waited), Contains("a copy of 4 bytes of which 8 are read"));
  CHECK_THAT(refusal("  copy_by_cache_4(shared + t, x + t, -4);\n" + waited), Contains("of which 4294967292 are read"));
}
