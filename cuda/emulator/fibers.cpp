#include "cuda/emulator/fibers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"

namespace etalon::cuda::emulator {

namespace {

namespace context = boost::context;

/// A stack as Boost.Context asks for it; copies give back to the same place.
class StackSource {
 public:
  explicit StackSource(Stacks& stacks) : stacks_(&stacks) {}
  context::stack_context allocate() {
    context::stack_context stack;
    stack.sp = stacks_->take();
    stack.size = Stacks::bytes;
    return stack;
  }
  void deallocate(context::stack_context& stack) noexcept { stacks_->give_back(stack.sp); }

 private:
  Stacks* stacks_;
};

std::size_t first_lane(std::size_t thread) { return thread - thread % warp_lanes; }

}  // namespace

void Fibers::run(const std::function<void()>& body, std::mt19937_64& draw) {
  draw_ = &draw;
  begin(body);
  std::vector<std::size_t> ready(threads_.size());
  for (std::size_t t = 0; t < ready.size(); ++t) ready[t] = t;
  while (!ready.empty()) {
    std::swap(ready[draw() % ready.size()], ready.back());
    const std::size_t thread = ready.back();
    ready.pop_back();
    resume(thread);
    check_copies(thread);
    copies_.pass(draw);
    if (threads_[thread].doing == Doing::at_exchange) meet(thread, ready);
    if (ready.empty()) pass_barrier(ready);
  }
  threads_.clear();
}

void Fibers::begin(const std::function<void()>& body) {
  state_.scheduler = this;
  state_.wait_for_block = wait_for_block;
  state_.exchange = exchange;
  state_.copy = copy;
  state_.close_copies = close_copies;
  state_.wait_for_copies = wait_for_copies;
  copies_.begin(state_.block_size.count(), shared_);
  threads_.clear();
  threads_.resize(state_.block_size.count());
  for (Thread& thread : threads_) {
    thread.fiber = context::fiber(std::allocator_arg, StackSource(stacks_), [&thread, &body](context::fiber&& caller) {
      thread.caller = std::move(caller);
      body();
      thread.doing = Doing::done;
      return std::move(thread.caller);
    });
  }
}

void Fibers::resume(std::size_t thread) {
  current_ = thread;
  state_.thread = state_.block_size.at(thread);
  threads_[thread].fiber = std::move(threads_[thread].fiber).resume();
}

void Fibers::wait(Doing doing, int line) {
  Thread& thread = threads_[current_];
  thread.doing = doing;
  thread.line = line;
  thread.caller = std::move(thread.caller).resume();
}

void Fibers::wait_for_block(void* self, int line) { static_cast<Fibers*>(self)->wait(Doing::at_barrier, line); }

std::uint64_t Fibers::exchange(void* self, std::uint32_t mask, std::uint32_t source, std::uint64_t bits, int line) {
  Fibers& all = *static_cast<Fibers*>(self);
  Thread& thread = all.threads_[all.current_];
  thread.mask = mask;
  thread.source = source;
  thread.bits = bits;
  all.wait(Doing::at_exchange, line);
  return thread.bits;
}

void Fibers::copy(void* self, void* to, const void* from, std::uint32_t bytes, std::uint32_t asked, const void* code, int line) {
  Fibers& all = *static_cast<Fibers*>(self);
  std::string why = all.copies_.ask(all.current_, {static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, asked, code, line}, *all.draw_);
  if (why.empty()) return;
  all.threads_[all.current_].refused = std::move(why);
  all.wait(Doing::refused, line);
}

void Fibers::close_copies(void* self) {
  Fibers& all = *static_cast<Fibers*>(self);
  all.copies_.close(all.current_);
}

void Fibers::wait_for_copies(void* self, std::uint32_t but) {
  Fibers& all = *static_cast<Fibers*>(self);
  all.copies_.wait(all.current_, but);
}

void Fibers::check_copies(std::size_t thread) {
  Thread& t = threads_[thread];
  if (t.doing == Doing::refused) throw DeviceError(fmt::format("{}, {}", place(thread), t.refused));
  const Copy* const open = t.doing == Doing::done ? copies_.open(thread) : nullptr;
  if (open == nullptr) return;
  t.line = open->line;
  throw DeviceError(fmt::format("{}, asks for a copy and ends without having waited for it", place(thread)));
}

std::string Fibers::place(std::size_t thread) const {
  return fmt::format("{}: thread {} of a block of {}, at line {}", kernel_, thread, threads_.size(), threads_[thread].line);
}

void Fibers::check_lanes(std::size_t thread) const {
  const Thread& t = threads_[thread];
  const auto is_in = [&](std::size_t lane) { return lane < warp_lanes && (t.mask >> lane & 1U) != 0 && first_lane(thread) + lane < threads_.size(); };
  if (!is_in(thread % warp_lanes)) throw DeviceError(fmt::format("{}, is not in its mask {:#x}", place(thread), t.mask));
  if (t.source != no_source && !is_in(t.source)) throw DeviceError(fmt::format("{}, reads lane {}, which is not in its mask {:#x}", place(thread), t.source, t.mask));
}

bool Fibers::waits_with(std::size_t thread, std::size_t lane) const {
  const Thread& one = threads_[thread];
  const Thread& other = threads_[lane];
  return other.doing == Doing::at_exchange && other.mask == one.mask && other.line == one.line;
}

void Fibers::meet(std::size_t thread, std::vector<std::size_t>& ready) {
  check_lanes(thread);
  std::vector<std::size_t> lanes;
  const std::size_t first = first_lane(thread), end = std::min(first + warp_lanes, threads_.size());
  for (std::size_t lane = first; lane < end; ++lane) {
    if ((threads_[thread].mask >> (lane - first) & 1U) == 0) continue;
    if (!waits_with(thread, lane)) return;
    lanes.push_back(lane);
  }
  std::vector<std::uint64_t> found;
  const bool orders = threads_[thread].source == no_source;
  for (const std::size_t lane : lanes) found.push_back(orders ? 0 : threads_[first + threads_[lane].source].bits);
  if (orders && races_ != nullptr) races_->pass_warp(lanes);
  for (std::size_t n = 0; n < lanes.size(); ++n) {
    threads_[lanes[n]].bits = found[n];
    threads_[lanes[n]].doing = Doing::ready;
    ready.push_back(lanes[n]);
  }
}

void Fibers::pass_barrier(std::vector<std::size_t>& ready) {
  const auto waiting = std::ranges::find_if(threads_, [](const Thread& t) { return t.doing != Doing::done; });
  if (waiting == threads_.end()) return;
  const auto thread = static_cast<std::size_t>(waiting - threads_.begin());
  if (waiting->doing == Doing::at_exchange) throw DeviceError(fmt::format("{}, waits for lanes of its mask {:#x} that do not come", place(thread), waiting->mask));
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    const Thread& other = threads_[t];
    if (other.doing == Doing::at_barrier && other.line == waiting->line) continue;
    const std::string where = other.doing == Doing::done ? "is done" : fmt::format("waits at line {}", other.line);
    throw DeviceError(fmt::format("{}, waits at a barrier for thread {}, which {}", place(thread), t, where));
  }
  copies_.pass_barrier();
  if (races_ != nullptr) races_->pass_barrier();
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    threads_[t].doing = Doing::ready;
    ready.push_back(t);
  }
}

}  // namespace etalon::cuda::emulator
