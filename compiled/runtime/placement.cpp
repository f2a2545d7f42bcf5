#include "compiled/runtime/placement.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>

#include <vector>
#endif

namespace etalon::compiled {

#ifdef __linux__

struct Placement::State {
  std::span<std::thread> workers;
  cpu_set_t allowed;
  std::vector<cpu_set_t> last;  ///< what each worker was told last
  int avoided = -1;             ///< the processor that no worker may use

  /// Every so many of the other processors: no two workers share one, and none is left out.
  [[nodiscard]] cpu_set_t share_of(std::size_t worker, int caller) const {
    cpu_set_t share;
    CPU_ZERO(&share);
    std::size_t position = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed) || cpu == caller) continue;
      if (position++ % workers.size() == worker) CPU_SET(cpu, &share);
    }
    return share;
  }

  /// \returns false when somebody else has placed the worker, or nobody may
  [[nodiscard]] bool place(std::size_t worker, int caller) {
    const pthread_t thread = workers[worker].native_handle();
    cpu_set_t found;
    if (pthread_getaffinity_np(thread, sizeof found, &found) != 0 || !CPU_EQUAL(&found, &last[worker])) return false;
    last[worker] = share_of(worker, caller);
    return pthread_setaffinity_np(thread, sizeof last[worker], &last[worker]) == 0;
  }

  [[nodiscard]] bool place_all(int caller) {
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (!place(w, caller)) return false;
    }
    avoided = caller;
    return true;
  }
};

Placement::Placement(std::span<std::thread> workers) {
  cpu_set_t allowed;
  if (workers.empty() || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (static_cast<std::size_t>(CPU_COUNT(&allowed)) <= workers.size()) return;
  state_ = std::make_unique<State>(State{workers, allowed, std::vector<cpu_set_t>(workers.size(), allowed)});
}

void Placement::make_way() {
  if (!state_) return;
  const int caller = sched_getcpu();
  if (caller == state_->avoided) return;
  // A caller that is itself outside of what the workers may use is in nobody's way; one that nobody can find neither.
  if (caller < 0 || caller >= CPU_SETSIZE || !CPU_ISSET(caller, &state_->allowed)) return;
  if (!state_->place_all(caller)) state_.reset();
}

#else

struct Placement::State {};
Placement::Placement(std::span<std::thread>) {}
void Placement::make_way() {}

#endif

Placement::~Placement() = default;

}  // namespace etalon::compiled
