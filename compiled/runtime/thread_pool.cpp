#include "compiled/runtime/thread_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "compiled/runtime/placement.hpp"

namespace etalon::compiled {

namespace {

/// How often a thread looks before it sleeps, some tens of microseconds: waking a sleeper costs about as much.
constexpr int spins = 1000;

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

void run_part(const Job& job, unsigned part, unsigned parts) {
  const std::int64_t begin = job.extent * part / parts;
  const std::int64_t end = job.extent * (part + 1) / parts;
  if (begin < end) job.body(job.context, begin, end);
}

}  // namespace

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::uint64_t> generation{0};
  std::atomic<unsigned> running{0};
  std::atomic<bool> stop{false};
  Job job;
  std::vector<std::thread> workers;
  std::optional<Placement> placement;

  void wait_for(std::uint64_t seen) {
    for (int i = 0; i < spins; ++i) {
      if (generation.load(std::memory_order_acquire) != seen) return;
      pause();
    }
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
  }

  void work(unsigned part) {
    for (std::uint64_t seen = 0;; ++seen) {
      wait_for(seen);
      if (stop.load()) return;
      run_part(job, part, static_cast<unsigned>(workers.size()) + 1);
      running.fetch_sub(1, std::memory_order_acq_rel);
    }
  }
};

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>()) {
  std::vector<std::thread>& workers = state_->workers;
  if (threads > 1) workers.resize(threads - 1);
  for (unsigned part = 1; part < threads; ++part) {
    workers[part - 1] = std::thread([this, part] { state_->work(part); });
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

unsigned ThreadPool::threads() const { return static_cast<unsigned>(state_->workers.size()) + 1; }

void ThreadPool::run(std::int64_t extent, Body body, void* context) {
  State& s = *state_;
  if (s.workers.empty() || extent < 2) {
    if (extent > 0) body(context, 0, extent);
    return;
  }
  s.placement->make_way();
  {
    const std::lock_guard lock(s.mutex);
    s.job = {extent, body, context};
    s.running.store(static_cast<unsigned>(s.workers.size()), std::memory_order_relaxed);
    s.generation.fetch_add(1, std::memory_order_release);
  }
  s.wake.notify_all();
  run_part(s.job, 0, threads());
  for (int i = 0; s.running.load(std::memory_order_acquire) != 0; ++i) {
    if (i > spins) std::this_thread::yield();
    else pause();
  }
}

}  // namespace etalon::compiled
