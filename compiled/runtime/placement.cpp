#include "compiled/runtime/placement.hpp"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <optional>
#include <vector>
#endif

namespace etalon::compiled {

#ifdef __linux__

namespace {

using Processor = std::size_t;
constexpr Processor most_processors = CPU_SETSIZE;

/// Where this thread runs; nothing where nobody can say.
std::optional<Processor> here() {
  const int cpu = sched_getcpu();
  return cpu < 0 ? std::nullopt : std::optional(static_cast<Processor>(cpu));
}

}  // namespace

struct Placement::State {
  std::span<std::thread> workers;
  cpu_set_t allowed;
  std::vector<cpu_set_t> last;       ///< what each worker was told last
  std::optional<Processor> avoided;  ///< what no worker may use

  /// Every so many of the other processors: no two workers share one, and none is left out.
  [[nodiscard]] cpu_set_t share_of(std::size_t worker, Processor caller) const {
    cpu_set_t share;
    CPU_ZERO(&share);
    std::size_t position = 0;
    for (Processor cpu = 0; cpu < most_processors; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed) || cpu == caller) continue;
      if (position++ % workers.size() == worker) CPU_SET(cpu, &share);
    }
    return share;
  }

  /// \returns false when somebody else has placed the worker, or nobody may
  [[nodiscard]] bool place(std::size_t worker, const cpu_set_t& where) {
    const pthread_t thread = workers[worker].native_handle();
    cpu_set_t found;
    if (pthread_getaffinity_np(thread, sizeof found, &found) != 0 || !CPU_EQUAL(&found, &last[worker])) return false;
    last[worker] = where;
    return pthread_setaffinity_np(thread, sizeof where, &where) == 0;
  }

  [[nodiscard]] bool make_way_for(Processor caller) {
    avoided = caller;
    bool all = true;
    for (std::size_t w = 0; w < workers.size(); ++w) all = place(w, share_of(w, caller)) && all;
    return all;
  }

  /// Every worker that nobody else has placed may run where it could at first.
  void give_up() {
    for (std::size_t w = 0; w < workers.size(); ++w) (void)place(w, allowed);
  }
};

Placement::Placement(std::span<std::thread> workers) {
  cpu_set_t allowed;
  if (workers.empty() || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (static_cast<std::size_t>(CPU_COUNT(&allowed)) <= workers.size()) return;
  state_ = std::make_unique<State>(State{workers, allowed, std::vector<cpu_set_t>(workers.size(), allowed), {}});
}

void Placement::make_way() {
  if (!state_) return;
  const std::optional<Processor> caller = here();
  if (!caller || caller == state_->avoided) return;
  // A caller outside of what the workers may use is in nobody's way.
  if (*caller >= most_processors || !CPU_ISSET(*caller, &state_->allowed)) return;
  if (state_->make_way_for(*caller)) return;
  state_->give_up();
  state_.reset();
}

#else

struct Placement::State {};
Placement::Placement(std::span<std::thread>) {}
void Placement::make_way() {}

#endif

Placement::~Placement() = default;

}  // namespace etalon::compiled
