#include "tools/bench/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace etalon::bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// What stands behind `key`, a separator and spaces in a file of lines.
std::string field_of(const std::string& path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(separator);
    if (line.rfind(key, 0) != 0 || at == std::string::npos) continue;
    const std::size_t first = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t last = line.find_last_not_of(" \t\"");
    return first == std::string::npos ? "" : line.substr(first, last - first + 1);
  }
  return "";
}

std::vector<std::string> caches() {
  std::vector<std::string> found;
  for (int i = 0;; ++i) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", i);
    const std::string level = first_line(folder + "level");
    if (level.empty()) return found;
    found.push_back(fmt::format("L{} {} {}", level, first_line(folder + "type"), first_line(folder + "size")));
  }
}

std::string vectors() {
  const std::string flags = field_of("/proc/cpuinfo", "flags", ':');
  for (const auto& [flag, name] :
       {std::pair{"avx512f", "AVX-512"}, std::pair{"avx2", "AVX2"}, std::pair{"sse2", "SSE2"}}) {
    if (flags.find(flag) != std::string::npos) return name;
  }
  return "";
}

std::string system_name() {
  utsname name{};
  const bool known = uname(&name) == 0;
  return fmt::format("{}, {} {}", field_of("/etc/os-release", "PRETTY_NAME", '='), known ? name.sysname : "",
                     known ? name.release : "");
}

}  // namespace

Machine this_machine() {
  Machine machine;
  const std::string number = field_of("/proc/cpuinfo", "model\t", ':'),
                    family = field_of("/proc/cpuinfo", "cpu family", ':');
  machine.processor =
      fmt::format("{} (family {}, model {})", field_of("/proc/cpuinfo", "model name", ':'), family, number);
  machine.vectors = vectors();
  machine.cores = std::thread::hardware_concurrency();
  machine.caches = caches();
  machine.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (machine.governor.empty()) machine.governor = "not readable";
  machine.system = system_name();
#ifdef __clang__
  machine.compiler = std::string("clang ") + __clang_version__;
#else
  machine.compiler = std::string("g++ ") + __VERSION__;
#endif
  machine.load_before = load_average();
  return machine;
}

double load_average() {
  double load = -1;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

std::string date_now() { return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))); }

}  // namespace etalon::bench
