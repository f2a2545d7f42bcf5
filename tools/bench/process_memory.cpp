#include "tools/bench/process_memory.hpp"

#include <fstream>
#include <string>

namespace etalon::bench {
namespace {

std::uint64_t status_bytes(const std::string& field) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(field + ":", 0) == 0) return std::stoull(line.substr(field.size() + 1)) * 1024;
  }
  return 0;
}

}  // namespace

std::uint64_t resident_bytes() { return status_bytes("VmRSS"); }

std::uint64_t peak_bytes() { return status_bytes("VmHWM"); }

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace etalon::bench
