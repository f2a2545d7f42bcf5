#include "compiled/runtime/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "compiled/machine/thresholds.hpp"
#include "compiled/runtime/placement.hpp"

namespace etalon::compiled {

namespace {

/// Tells the processor that this thread waits, so that another one on the same core runs meanwhile.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

struct Job {
  std::int64_t extent = 0;
  ThreadPool::Body body = nullptr;
  void* context = nullptr;
};

void run_part(const Job& job, std::int64_t part, std::int64_t parts, std::size_t slot) {
  job.body(job.context, job.extent * part / parts, job.extent * (part + 1) / parts, slot);
}

}  // namespace

struct ThreadPool::State {
  std::mutex serving;  ///< held by the caller whose job it is
  std::mutex mutex;    ///< of the job and of what is taken
  std::condition_variable wake;
  Job job;
  std::vector<bool> taken;  ///< per part of the job
  std::size_t left = 0;     ///< parts that nobody has taken
  std::atomic<std::size_t> unfinished{0};
  std::atomic<std::uint64_t> generation{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> workers;
  std::optional<Placement> placement;

  void wait_for(std::uint64_t seen) {
    for (int i = 0; i < threshold<int>("spins"); ++i) {
      if (generation.load(std::memory_order_acquire) != seen) return;
      pause();
    }
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
  }

  /// A part that nobody has taken, its own before others': then a thread finds in its caches what it left there.
  std::optional<std::size_t> take(std::size_t thread, Job& of) {
    const std::lock_guard lock(mutex);
    if (left == 0) return std::nullopt;
    const std::size_t parts = taken.size();
    std::size_t part = thread * parts / (workers.size() + 1);
    while (taken[part % parts]) ++part;
    taken[part % parts] = true;
    --left;
    of = job;
    return part % parts;
  }

  /// Takes parts until none is left. Whoever comes late finds less to do, or nothing, and nobody waits for them.
  void work_off(std::size_t thread) {
    Job current;
    while (const std::optional<std::size_t> part = take(thread, current)) {
      const std::size_t parts = parts_of(current.extent);
      // With fewer parts than threads, no two threads have the same part, and a thread's number would be too large.
      const std::size_t slot = parts > workers.size() ? thread : *part;
      run_part(current, static_cast<std::int64_t>(*part), static_cast<std::int64_t>(parts), slot);
      unfinished.fetch_sub(1, std::memory_order_acq_rel);
    }
  }

  void wait_until_finished() const {
    for (int i = 0; unfinished.load(std::memory_order_acquire) != 0; ++i) {
      if (i > threshold<int>("spins"))
        std::this_thread::yield();
      else
        pause();
    }
  }

  void work(std::size_t thread) {
    for (std::uint64_t seen = 0;;) {
      wait_for(seen);
      if (stop.load()) return;
      seen = generation.load(std::memory_order_acquire);
      work_off(thread);
    }
  }

  [[nodiscard]] std::size_t parts_of(std::int64_t extent) const {
    return std::min(static_cast<std::size_t>(extent), threshold<std::size_t>("parts_per_thread") * (workers.size() + 1));
  }

  void hand_out(const Job& next) {
    const std::lock_guard lock(mutex);
    job = next;
    left = parts_of(next.extent);
    taken.assign(left, false);
    unfinished.store(left, std::memory_order_relaxed);
    generation.fetch_add(1, std::memory_order_release);
  }
};

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>()) {
  std::vector<std::thread>& workers = state_->workers;
  if (threads > 1) workers.resize(threads - 1);
  for (unsigned thread = 1; thread < threads; ++thread) {
    workers[thread - 1] = std::thread([this, thread] { state_->work(thread); });
  }
  state_->placement.emplace(workers);
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop.store(true);
    state_->generation.fetch_add(1, std::memory_order_release);
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

std::shared_ptr<ThreadPool> ThreadPool::of_process(unsigned threads) {
  static std::mutex mutex;
  static std::map<unsigned, std::weak_ptr<ThreadPool>> pools;
  const std::lock_guard lock(mutex);
  std::weak_ptr<ThreadPool>& known = pools[threads];
  std::shared_ptr<ThreadPool> pool = known.lock();
  if (!pool) known = pool = std::make_shared<ThreadPool>(threads);
  return pool;
}

unsigned ThreadPool::threads() const { return static_cast<unsigned>(state_->workers.size()) + 1; }

void ThreadPool::run(std::int64_t extent, Body body, void* context) {
  State& s = *state_;
  const std::unique_lock ours(s.serving, std::try_to_lock);
  if (!ours || s.workers.empty() || extent < 2) {
    if (extent > 0) body(context, 0, extent, 0);
    return;
  }
  s.placement->make_way();
  s.hand_out({extent, body, context});
  s.wake.notify_all();
  s.work_off(0);
  s.wait_until_finished();
}

}  // namespace etalon::compiled
