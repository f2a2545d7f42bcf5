#include "cuda/emulator/object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "cuda/emulator/fibers.hpp"
#include "cuda/emulator/memory.hpp"
#include "cuda/emulator/prologue.hpp"
#include "spec/error.hpp"

namespace etalon::cuda::emulator {

namespace {

/// Numbers below `count`, each once.
std::vector<std::uint64_t> drawn(std::uint64_t count, std::mt19937_64& draw) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  std::shuffle(all.begin(), all.end(), draw);
  return all;
}

/// Threads warp by warp, the warps and the lanes of each in an order of their own.
std::vector<std::uint64_t> drawn_by_warps(std::uint64_t threads, std::mt19937_64& draw) {
  std::vector<std::uint64_t> all;
  all.reserve(threads);
  for (const std::uint64_t warp : drawn((threads + warp_lanes - 1) / warp_lanes, draw)) {
    for (const std::uint64_t lane : drawn(warp_lanes, draw)) {
      if (warp * warp_lanes + lane < threads) all.push_back(warp * warp_lanes + lane);
    }
  }
  return all;
}

/// Shared memory begins as its widest access asks for.
struct alignas(256) Line {
  std::array<std::byte, 256> bytes;
};

}  // namespace

compiled::source::CCompiler host_compiler(int optimisation) {
  return {"c++", fmt::format("-x c++ -std=c++17 -O{} -w -ffp-contract=off -fvisibility=hidden", optimisation)};
}

std::vector<std::shared_ptr<const Object>> compile(std::span<const std::string> texts, const compiled::source::CCompiler& compiler) {
  const std::shared_ptr<compiled::source::Library> library = compile_c(host_text(texts), compiler);
  ThreadState* const state = reinterpret_cast<ThreadState* (*)()>(library->symbol(state_symbol))();
  std::vector<std::shared_ptr<const Object>> all;
  for (std::size_t n = 0; n < texts.size(); ++n) {
    auto object = std::make_shared<Object>();
    object->library_ = library;
    object->state_ = state;
    object->waits_ = has_waiting_threads(texts[n]);
    for (const std::string& kernel : kernels_in(texts[n])) {
      object->callers_.emplace(kernel, reinterpret_cast<Object::Caller>(library->symbol(caller_symbol(n, kernel))));
    }
    all.push_back(std::move(object));
  }
  return all;
}

std::vector<std::string> Object::kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, caller] : callers_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

void Object::launch(const std::string& kernel, const Extent& extent, void* const* values, Course& course) const {
  const auto found = callers_.find(kernel);
  if (found == callers_.end()) throw DeviceError("no kernel `" + kernel + "` in the module");
  const Caller caller = found->second;
  std::vector<Line> shared((extent.shared_bytes + sizeof(Line) - 1) / sizeof(Line));
  ThreadState& state = *state_;
  state = {};
  state.block_size = extent.threads;
  state.grid_size = extent.blocks;
  state.shared = shared.data();
  Fibers fibers(state, course.stacks, kernel);
  for (const std::uint64_t block : drawn(extent.blocks.count(), course.draw)) {
    state.block = extent.blocks.at(block);
    for (Line& line : shared) line.bytes.fill(poison);
    if (waits_) {
      fibers.run([&] { caller(values); }, course.draw);
      continue;
    }
    for (const std::uint64_t thread : drawn_by_warps(extent.threads.count(), course.draw)) {
      state.thread = extent.threads.at(thread);
      caller(values);
    }
  }
}

}  // namespace etalon::cuda::emulator
