#include "cuda/emulator/races.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace etalon::cuda::emulator {

namespace {

constexpr std::size_t word_bytes = 4;
constexpr std::size_t lanes = 32;

}  // namespace

void Races::begin(Order order, std::vector<std::string> names) {
  order_ = std::move(order);
  names_ = std::move(names);
  regions_.clear();
  found_.reset();
}

void Races::watch(const std::byte* begin, std::size_t bytes) {
  Region& region = regions_[begin];
  region.bytes = bytes;
  region.words.assign((bytes + word_bytes - 1) / word_bytes, {});
}

void Races::begin_command(std::size_t number) {
  command_ = static_cast<std::uint32_t>(number);
  begin_block(0, 1, nullptr, 0);
}

void Races::begin_block(std::uint64_t block, std::uint64_t threads, const std::byte* shared, std::size_t bytes) {
  block_ = static_cast<std::uint32_t>(block);
  barriers_ = 0;
  clocks_.assign(threads, 1);
  seen_.assign(threads * lanes, 0);
  shared_begin_ = shared;
  shared_.bytes = bytes;
  shared_.words.assign((bytes + word_bytes - 1) / word_bytes, {});
}

void Races::pass_barrier() {
  ++barriers_;
  std::ranges::fill(clocks_, 1U);
  std::ranges::fill(seen_, 0U);
}

void Races::pass_warp(const std::vector<std::size_t>& threads) {
  std::array<std::uint32_t, lanes> all{};
  for (const std::size_t t : threads) {
    for (std::size_t lane = 0; lane < lanes; ++lane) all[lane] = std::max(all[lane], seen_[t * lanes + lane]);
    all[t % lanes] = clocks_[t];
  }
  for (const std::size_t t : threads) {
    std::ranges::copy(all, seen_.begin() + static_cast<std::ptrdiff_t>(t * lanes));
    ++clocks_[t];
  }
}

bool Races::ordered(const Touch& earlier, const Touch& now) const {
  if (earlier.command != now.command) return order_[now.command][earlier.command];
  if (earlier.block != now.block) return false;
  if (earlier.thread == now.thread || earlier.barriers != now.barriers) return true;
  if (earlier.thread / lanes != now.thread / lanes) return false;
  return seen_[now.thread * lanes + earlier.thread % lanes] >= earlier.clock;
}

void Races::report(const Touch& earlier, bool earlier_writes, const Touch& now, bool writes, bool shared) {
  if (found_ || (earlier.bytes & now.bytes) == 0 || ordered(earlier, now)) return;
  found_ = Race{earlier, now, earlier_writes, writes, shared};
}

void Races::one_word(Word& word, const Touch& now, bool writes, bool shared) {
  report(word.write, true, now, writes, shared);
  if (writes) {
    for (const Touch& read : word.reads) report(read, false, now, writes, shared);
    word = {now, {}};
    return;
  }
  const auto known = std::ranges::find_if(word.reads, [&](const Touch& t) { return t.bytes == 0 || ordered(t, now); });
  if (known == word.reads.end()) return;
  const std::uint32_t bytes = known->thread == now.thread && known->block == now.block && known->command == now.command ? known->bytes | now.bytes : now.bytes;
  *known = now;
  known->bytes = bytes;
}

void Races::words_of(Region& region, std::size_t offset, std::size_t bytes, Touch now, bool writes, bool shared) {
  const std::size_t end = std::min(offset + bytes, region.bytes);
  while (offset < end) {
    const std::size_t word = offset / word_bytes, stop = std::min(end, (word + 1) * word_bytes);
    now.bytes = ((1U << (stop - offset)) - 1U) << (offset % word_bytes);
    one_word(region.words[word], now, writes, shared);
    offset = stop;
  }
}

void Races::touch(std::uint64_t thread, const std::byte* address, std::size_t bytes, bool writes, const void* code) {
  if (found_) return;
  const Touch now{command_, block_, static_cast<std::uint32_t>(thread), barriers_, clocks_[thread], 0, code};
  if (shared_begin_ != nullptr && address >= shared_begin_ && address < shared_begin_ + shared_.bytes)
    return words_of(shared_, static_cast<std::size_t>(address - shared_begin_), bytes, now, writes, true);
  const auto after = regions_.upper_bound(address);
  if (after == regions_.begin()) return;
  auto& [begin, region] = *std::prev(after);
  if (address < begin + region.bytes) words_of(region, static_cast<std::size_t>(address - begin), bytes, now, writes, false);
}

void Races::touch_all(const std::byte* address, std::size_t bytes, bool writes) { touch(0, address, bytes, writes, nullptr); }

}  // namespace etalon::cuda::emulator
