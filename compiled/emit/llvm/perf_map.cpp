#include "compiled/emit/llvm/perf_map.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace etalon::compiled {

bool wants_perf_map() {
  const char* value = std::getenv("ETALON_PERF_MAP");
  return value != nullptr && std::string(value) != "0" && *value != '\0';
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
