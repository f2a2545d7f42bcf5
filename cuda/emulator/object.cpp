#include "cuda/emulator/object.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <array>
#include <cstdio>
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

/// Who hears of accesses, and who makes them.
struct Watched {
  Races* races;
  const ThreadState* state;

  static void access(void* self, const void* address, std::uint32_t bytes, bool writes, const void* code) {
    const auto& [races, state] = *static_cast<const Watched*>(self);
    const Triple& at = state->thread;
    const Triple& size = state->block_size;
    races->touch(at.x + std::uint64_t{size.x} * (at.y + std::uint64_t{size.y} * at.z), static_cast<const std::byte*>(address), bytes, writes, code);
  }
};

/// The line of the text that an instruction was made of, as the tools beside the host's compiler find it; what they say where they do not.
std::string line_of(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return "?";
  // The address behind a call may be the next line's.
  const auto offset = static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase) - 1;
  const std::string command = fmt::format("addr2line -s -e '{}' {:#x}", info.dli_fname, offset);
  std::FILE* const out = popen(command.c_str(), "r");
  if (out == nullptr) return "?";
  std::array<char, 256> said{};
  const std::size_t read = std::fread(said.data(), 1, said.size() - 1, out);
  (void)pclose(out);
  const std::string text(said.data(), read);
  const std::size_t colon = text.find(':');
  return text.substr(colon == std::string::npos ? 0 : colon + 1, text.find_first_of(" \n") - (colon == std::string::npos ? 0 : colon + 1));
}

}  // namespace

compiled::source::CCompiler host_compiler(int optimisation) {
  return {"c++", fmt::format("-x c++ -std=c++17 -O{} -w -ffp-contract=off -fvisibility=hidden", optimisation)};
}

compiled::source::CCompiler telling_compiler() {
  // Their runtime is not linked: what it would be called for is in the text.
  return {"c++", "-x c++ -std=c++17 -O0 -g1 -w -ffp-contract=off -fvisibility=hidden -fsanitize=thread -nostdlib", true};
}

std::vector<std::shared_ptr<const Object>> compile(std::span<const std::string> texts, const compiled::source::CCompiler& compiler) {
  const std::shared_ptr<compiled::source::Library> library = compile_c(host_text(texts, compiler.keeps_file), compiler);
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
  Watched watched{course.races.get(), &state};
  state.block_size = extent.threads;
  state.grid_size = extent.blocks;
  state.shared = shared.data();
  Races* const races = course.races.get();
  if (races != nullptr) {
    state.watcher = &watched;
    state.access = Watched::access;
  }
  const std::span<std::byte> memory(reinterpret_cast<std::byte*>(shared.data()), extent.shared_bytes);
  Fibers fibers(state, course.stacks, memory, kernel, races);
  for (const std::uint64_t block : drawn(extent.blocks.count(), course.draw)) {
    state.block = extent.blocks.at(block);
    for (Line& line : shared) line.bytes.fill(poison);
    if (races != nullptr) races->begin_block(block, extent.threads.count(), reinterpret_cast<const std::byte*>(shared.data()), extent.shared_bytes);
    if (waits_) {
      fibers.run([&] { caller(values); }, course.draw);
      continue;
    }
    for (const std::uint64_t thread : drawn_by_warps(extent.threads.count(), course.draw)) {
      state.thread = extent.threads.at(thread);
      caller(values);
    }
  }
  if (races != nullptr && races->found()) throw DeviceError(to_text(*races, *races->found()));
}

std::string to_text(const Races& races, const Races::Race& race) {
  const auto place = [&](const Races::Touch& t, bool writes) {
    const std::string line = t.code == nullptr ? std::string() : " at line " + line_of(t.code);
    return fmt::format("{}: thread {} of block {} {}{}", races.command(t), t.thread, t.block, writes ? "writes" : "reads", line);
  };
  return fmt::format("{} what nothing puts in order with {}, in {} memory", place(race.second, race.second_writes), place(race.first, race.first_writes),
                     race.in_shared_memory ? "shared" : "global");
}

}  // namespace etalon::cuda::emulator
