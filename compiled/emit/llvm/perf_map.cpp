#include "compiled/emit/llvm/perf_map.hpp"

#include <fmt/format.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Object/SymbolSize.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace etalon::compiled {

bool wants_perf_map() {
  const char* value = std::getenv("ETALON_PERF_MAP");
  return value != nullptr && std::string(value) != "0" && *value != '\0';
}

std::map<std::string, std::uint64_t> sizes_of_functions(const llvm::MemoryBuffer& object) {
  std::map<std::string, std::uint64_t> sizes;
  auto file = llvm::object::ObjectFile::createObjectFile(object.getMemBufferRef());
  if (!file) {
    llvm::consumeError(file.takeError());
    return sizes;
  }
  for (const auto& [symbol, size] : llvm::object::computeSymbolSizes(**file)) {
    auto name = symbol.getName();
    if (name) sizes[name->str()] = size;
    else llvm::consumeError(name.takeError());
  }
  return sizes;
}

void add_to_perf_map(const std::vector<NamedFunction>& functions) {
  std::string lines;
  for (const NamedFunction& f : functions) lines += fmt::format("{:x} {:x} {}\n", f.address, f.size, f.name);
  // Written at once, since other threads may add theirs.
  std::ofstream map;
  map.rdbuf()->pubsetbuf(nullptr, 0);
  map.open(fmt::format("/tmp/perf-{}.map", getpid()), std::ios::app);
  map << lines;
}

}  // namespace etalon::compiled
