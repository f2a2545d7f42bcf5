#include "cuda/emulator/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/emulator/memory.hpp"

namespace etalon::cuda::emulator {

namespace {

/// Of copies one in so many happens at once, and where time passes one in so many times some of a thread's do: most are late.
constexpr std::uint64_t early = 4, later = 16;

bool is_aligned(const void* address, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(address) % bytes == 0; }

}  // namespace

void Copies::begin(std::size_t threads, std::span<std::byte> shared) {
  shared_ = shared;
  threads_.resize(threads);
  for (Thread& t : threads_) {
    t.pending.clear();
    t.closed = 0;
  }
}

std::string Copies::ask(std::size_t thread, const Copy& copy, std::mt19937_64& draw) {
  if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) return fmt::format("asks for a copy of {} bytes, and there are copies of 4, 8 and 16", copy.bytes);
  if (copy.asked > copy.bytes) return fmt::format("asks for a copy of {} bytes of which {} are read", copy.bytes, copy.asked);
  const std::byte* const end = shared_.data() + shared_.size();
  if (copy.to < shared_.data() || copy.to > end || copy.bytes > end - copy.to) return "asks for a copy to what is not its block's memory";
  if (!is_aligned(copy.to, copy.bytes) || !is_aligned(copy.from, copy.bytes))
    return fmt::format("asks for a copy of {} bytes {} what is at no multiple of them", copy.bytes, is_aligned(copy.to, copy.bytes) ? "from" : "to");
  touch(thread, copy);
  Thread& t = threads_[thread];
  t.pending.push_back({copy, t.closed, false});
  if (draw() % early == 0) happen(t.pending.back());
  else std::fill_n(copy.to, copy.bytes, poison);
  return {};
}

void Copies::wait(std::size_t thread, std::uint32_t but) {
  Thread& t = threads_[thread];
  const auto first_open = std::ranges::find_if(t.pending, [&](const Pending& p) { return p.group + but >= t.closed; });
  for (auto one = t.pending.begin(); one != first_open; ++one) {
    if (!one->is_done) happen(*one);
    touch(thread, one->copy);
  }
  t.pending.erase(t.pending.begin(), first_open);
}

void Copies::pass(std::mt19937_64& draw) {
  if (draw() % later != 0) return;
  for (Pending& one : threads_[draw() % threads_.size()].pending) {
    if (!one.is_done && draw() % 2 == 0) happen(one);
  }
}

void Copies::pass_barrier() {
  if (races_ == nullptr) return;
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    for (const Pending& one : threads_[t].pending) touch(t, one.copy);
  }
}

const Copy* Copies::open(std::size_t thread) const {
  const std::vector<Pending>& pending = threads_[thread].pending;
  return pending.empty() ? nullptr : &pending.front().copy;
}

void Copies::happen(Pending& one) {
  const Copy& c = one.copy;
  if (c.asked > 0) std::memcpy(c.to, c.from, c.asked);
  std::fill(c.to + c.asked, c.to + c.bytes, std::byte{0});
  one.is_done = true;
}

void Copies::touch(std::size_t thread, const Copy& copy) const {
  if (races_ == nullptr) return;
  if (copy.asked > 0) races_->touch(thread, copy.from, copy.asked, false, copy.code);
  races_->touch(thread, copy.to, copy.bytes, true, copy.code);
}

}  // namespace etalon::cuda::emulator
