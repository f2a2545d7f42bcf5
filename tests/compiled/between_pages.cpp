#include "tests/compiled/between_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "compiled/runtime/buffer.hpp"
#include "spec/error.hpp"

namespace etalon::test {

namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

constexpr std::size_t line_bytes = 64;  // where outputs begin

}  // namespace

BetweenPages::BetweenPages(const Bytes& content, At at, std::byte around, std::size_t aligned)
    : count_(content.size()), around_(around) {
  const std::size_t page = page_bytes();
  const std::size_t inner = (content.size() / page + 1) * page;
  size_ = inner + 2 * page;
  void* whole = mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) throw IoError("no memory between pages");
  whole_ = static_cast<std::byte*>(whole);
  if (mprotect(whole_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole_, size_);
    throw IoError("no memory between pages");
  }
  std::memset(whole_ + page, static_cast<int>(around), inner);
  begin_ = whole_ + page + (at == At::end ? (inner - content.size()) / aligned * aligned : 0);
  if (!content.empty()) std::memcpy(begin_, content.data(), content.size());
}

bool BetweenPages::nothing_beside() const {
  const auto same = [&](std::byte b) { return b == around_; };
  const std::byte* last = whole_ + size_ - page_bytes();
  return std::all_of(whole_ + page_bytes(), begin_, same) && std::all_of(static_cast<const std::byte*>(begin_ + count_), last, same);
}

BetweenPages::~BetweenPages() { munmap(whole_, size_); }

std::vector<Bytes> run_between_pages(const compiled::Unit& unit, const std::vector<HostTensor>& inputs, BetweenPages::At at, std::byte around) {
  std::vector<std::unique_ptr<BetweenPages>> memory;
  const auto placed = [&](const Bytes& content, std::size_t aligned) {
    return memory.emplace_back(std::make_unique<BetweenPages>(content, at, around, aligned))->begin();
  };
  std::vector<std::byte*> in;
  for (const HostTensor& t : inputs) in.push_back(placed(t.bytes, 1));
  std::vector<Bytes> results;
  for (const spec::TensorId o : unit.system().outputs) {
    const spec::TensorInfo& info = unit.system()[o];
    results.emplace_back(static_cast<std::size_t>(info.dims.count()) * size_of(info.dtype));
  }
  std::vector<std::byte*> out;
  for (const Bytes& r : results) out.push_back(placed(r, line_bytes));
  const compiled::Buffer arena(unit.arena_bytes());
  (void)unit.module().replay()->run({in, out, arena.data()});
  if (!std::all_of(memory.begin(), memory.end(), [](const auto& m) { return m->nothing_beside(); }))
    throw std::logic_error("something was written beside a tensor");
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!results[i].empty()) std::memcpy(results[i].data(), out[i], results[i].size());
  }
  return results;
}

}  // namespace etalon::test
