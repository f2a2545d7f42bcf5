#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string_view>

#include "spec/error.hpp"
#include "training/ranks/module.h"
#include "training/ranks/ranks.hpp"

namespace etalon::training {

namespace {

namespace fs = std::filesystem;

using Sizes = std::vector<std::int64_t>;

/// MPI counts in int.
constexpr std::int64_t most_bytes = std::numeric_limits<int>::max();

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<Bytes> split(const Bytes& all, const Sizes& sizes) {
  std::vector<Bytes> parts;
  auto from = all.begin();
  for (const std::int64_t size : sizes) {
    parts.emplace_back(from, from + size);
    from += size;
  }
  return parts;
}

std::int64_t total_of(const Sizes& sizes) {
  const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (total <= most_bytes) return total;
  throw Unsupported(fmt::format("ranks: {} bytes at once, MPI moves at most {}: more ranks, or a smaller model", total, most_bytes));
}

class MpiRanks : public Ranks {
 public:
  explicit MpiRanks(const etalon_ranks& module) : module_(module) {}

  int rank() const override { return module_.rank; }
  int count() const override { return module_.count; }

  std::vector<Bytes> exchange(const std::vector<Bytes>& sent) override {
    Sizes mine, theirs(size()), each(size(), sizeof(std::int64_t));
    for (const Bytes& part : sent) mine.push_back(static_cast<std::int64_t>(part.size()));
    require(module_.exchange(mine.data(), each.data(), theirs.data(), each.data()));
    (void)total_of(mine);
    Bytes received(static_cast<std::size_t>(total_of(theirs)));
    require(module_.exchange(joined(sent).data(), mine.data(), received.data(), theirs.data()));
    return split(received, theirs);
  }

  std::vector<Bytes> gather(const Bytes& own) override {
    const auto mine = static_cast<std::int64_t>(own.size());
    Sizes theirs(size());
    const Sizes each(size(), sizeof(std::int64_t));
    require(module_.gather(&mine, sizeof mine, theirs.data(), each.data()));
    Bytes received(static_cast<std::size_t>(total_of(theirs)));
    require(module_.gather(own.data(), mine, received.data(), theirs.data()));
    return split(received, theirs);
  }

  Bytes spread(const Bytes& of_first) override {
    auto bytes = static_cast<std::int64_t>(of_first.size());
    require(module_.spread(&bytes, sizeof bytes));
    Bytes moved = rank() == 0 ? of_first : Bytes(static_cast<std::size_t>(bytes));
    require(module_.spread(moved.data(), total_of({bytes})));
    return moved;
  }

  void leave() override { require(module_.leave()); }

 private:
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(module_.count); }
  void require(int code) const {
    if (code == 0) return;
    std::array<char, 512> text{};
    module_.error(code, text.data());
    throw DeviceError(fmt::format("rank {}: MPI: {}", rank(), text.data()));
  }

  etalon_ranks module_;
};

/// Beside the command that was built, or else where it is installed. Empty where neither is.
fs::path module_file() {
  std::error_code ignored;
  const fs::path built = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "ranks" / "ranks-mpi.so";
  for (const fs::path& file : {built, fs::path(ETALON_INSTALLED_RANKS)}) {
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

etalon_ranks joined_by(const fs::path& file) {
  // What MPI loads later looks for MPI's own functions.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw Unsupported(fmt::format("ranks: {} cannot be loaded: {}", file.string(), dlerror()));
  const auto join = reinterpret_cast<decltype(&etalon_join_ranks)>(dlsym(library, "etalon_join_ranks"));
  etalon_ranks module{};
  const bool has_begun = join != nullptr && join(&module) == 0;
  if (has_begun && module.version == ETALON_RANKS_VERSION) return module;
  throw Unsupported(fmt::format("ranks: {} does not begin: found version {}, expected {}", file.string(), module.version, ETALON_RANKS_VERSION));
}

}  // namespace

int started_ranks() {
  if (const char* const said = std::getenv("OMPI_COMM_WORLD_SIZE")) {
    const std::string_view text = said;
    int count = 1;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
  }
  return std::getenv("PMIX_RANK") != nullptr ? 2 : 1;
}

std::shared_ptr<Ranks> join_ranks() {
  const int started = started_ranks();
  if (started < 2) return nullptr;
  const fs::path file = module_file();
  if (file.empty()) {
    throw Unsupported(fmt::format("ranks: a launcher started {} processes, and there is no {}: install etalon-mpi, or build where "
                                  "libopenmpi-dev is", started, ETALON_INSTALLED_RANKS));
  }
  const etalon_ranks module = joined_by(file);
  auto ranks = std::make_shared<MpiRanks>(module);
  if (module.count > 1) return ranks;
  ranks->leave();
  return nullptr;
}

}  // namespace etalon::training
