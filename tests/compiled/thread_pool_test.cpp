#include "compiled/runtime/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

using etalon::compiled::ThreadPool;

namespace {

using Part = std::function<void(std::int64_t begin, std::int64_t end)>;

void run(ThreadPool& pool, std::int64_t extent, Part part) {
  pool.run(
      extent, [](void* p, std::int64_t begin, std::int64_t end, std::size_t) { (*static_cast<Part*>(p))(begin, end); }, &part);
}

}  // namespace

TEST_CASE("each iteration is run once, whatever the number of threads", "[compiled][threads]") {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    ThreadPool pool(threads);
    REQUIRE(pool.threads() == threads);
    for (const std::int64_t extent : {0, 1, 2, 3, 7, 64, 1000}) {
      for (int again = 0; again < 20; ++again) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(extent));
        run(pool, extent, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (const auto& count : seen) REQUIRE(count == 1);
      }
    }
  }
}

TEST_CASE("who is held up in one part leaves the others to the rest", "[compiled][threads]") {
  const auto caller = std::this_thread::get_id();
  for (const bool caller_is_held : {true, false}) {
    ThreadPool pool(2);
    std::atomic<int> done{0};
    std::atomic<bool> held{false};
    std::atomic<std::int64_t> iterations{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    run(pool, 4, [&](std::int64_t begin, std::int64_t past) {
      iterations += past - begin;
      const bool is_it = (std::this_thread::get_id() == caller) == caller_is_held;
      // The one that is to be held up has a part for certain: the other one waits with its first.
      while (!is_it && !held && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      if (is_it) held = true;
      while (is_it && done < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      ++done;
    });
    CHECK(std::chrono::steady_clock::now() < end);
    CHECK(done == 4);
    CHECK(iterations == 4);
  }
}

#ifdef __linux__

namespace {

cpu_set_t mask_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  REQUIRE(sched_getaffinity(0, sizeof mask, &mask) == 0);
  return mask;
}

void use(const cpu_set_t& mask) { REQUIRE(sched_setaffinity(0, sizeof mask, &mask) == 0); }

cpu_set_t only(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(static_cast<std::size_t>(cpu), &mask);
  return mask;
}

std::vector<int> processors(const cpu_set_t& mask) {
  std::vector<int> all;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) all.push_back(cpu);
  }
  return all;
}

/// Puts the mask of this thread back.
struct Restored {
  cpu_set_t mask = mask_of_this_thread();
  Restored() = default;
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { sched_setaffinity(0, sizeof mask, &mask); }
};

/// Where each worker may run. Each has a part: nobody ends one before all have begun theirs.
std::vector<cpu_set_t> masks_of_workers(ThreadPool& pool) {
  const auto caller = std::this_thread::get_id();
  std::mutex mutex;
  std::vector<cpu_set_t> masks;
  std::atomic<unsigned> begun{0};
  run(pool, pool.threads(), [&](std::int64_t, std::int64_t) {
    if (std::this_thread::get_id() != caller) {
      const std::lock_guard lock(mutex);
      sched_getaffinity(0, sizeof(cpu_set_t), &masks.emplace_back());
    }
    ++begun;
    while (begun < pool.threads()) std::this_thread::yield();
  });
  return masks;
}

}  // namespace

TEST_CASE("workers leave the caller's processor to the caller and share none among each other", "[compiled][threads]") {
  const Restored restored;
  const std::vector<int> cpus = processors(restored.mask);
  if (cpus.size() < 2) {
    WARN("one processor: there is nothing to share out");
    return;
  }
  for (const std::size_t threads : {std::size_t{2}, cpus.size()}) {
    ThreadPool pool(static_cast<unsigned>(threads));
    for (int again = 0; again < 3; ++again) {
      for (const int caller : cpus) {
        use(only(caller));
        std::vector<int> given;
        for (const cpu_set_t& mask : masks_of_workers(pool)) {
          for (const int cpu : processors(mask)) given.push_back(cpu);
        }
        std::sort(given.begin(), given.end());
        std::vector<int> others = cpus;
        others.erase(std::find(others.begin(), others.end(), caller));
        CHECK(given == others);
        CHECK(processors(mask_of_this_thread()) == std::vector{caller});
      }
    }
    use(restored.mask);
  }
}

TEST_CASE("a pool stays within the processors that its maker may use", "[compiled][threads]") {
  const Restored restored;
  const int cpu = processors(restored.mask).front();
  use(only(cpu));
  ThreadPool pool(2);
  CHECK(processors(masks_of_workers(pool).at(0)) == std::vector{cpu});
  use(restored.mask);
  for (int again = 0; again < 10; ++again) CHECK(processors(masks_of_workers(pool).at(0)) == std::vector{cpu});
}

TEST_CASE("more threads than processors are left to the system", "[compiled][threads]") {
  const Restored restored;
  const std::vector<int> cpus = processors(restored.mask);
  ThreadPool pool(static_cast<unsigned>(cpus.size()) + 1);
  for (int again = 0; again < 10; ++again) {
    const std::vector<cpu_set_t> masks = masks_of_workers(pool);
    CHECK(masks.size() == cpus.size());
    for (const cpu_set_t& mask : masks) CHECK(processors(mask) == cpus);
  }
}

TEST_CASE("where somebody else has placed a worker it stays, and the others are let go", "[compiled][threads]") {
  const Restored restored;
  const std::vector<int> cpus = processors(restored.mask);
  if (cpus.size() < 2) {
    WARN("one processor: there is nothing to share out");
    return;
  }
  ThreadPool pool(static_cast<unsigned>(cpus.size()));
  use(only(cpus[0]));
  const auto caller = std::this_thread::get_id();
  std::atomic<unsigned> begun{0};
  std::atomic<bool> one{false};
  run(pool, pool.threads(), [&](std::int64_t, std::int64_t) {
    const cpu_set_t mask = only(cpus[0]);
    if (std::this_thread::get_id() != caller && !one.exchange(true)) sched_setaffinity(0, sizeof mask, &mask);
    ++begun;
    while (begun < pool.threads()) std::this_thread::yield();
  });
  for (const int cpu : {cpus[1], cpus[0]}) {
    use(only(cpu));
    std::size_t placed = 0, free = 0;
    for (const cpu_set_t& mask : masks_of_workers(pool)) {
      if (processors(mask) == std::vector{cpus[0]}) ++placed;
      if (processors(mask) == cpus) ++free;
    }
    CHECK(placed == 1);
    CHECK(free == cpus.size() - 2);
  }
}

#endif
