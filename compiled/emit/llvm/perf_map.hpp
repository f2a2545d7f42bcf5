/// \file
/// Names of generated functions for the profiler perf, which reads them from /tmp/perf-PID.map when it makes its report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etalon::compiled {

/// Whether ETALON_PERF_MAP asks for the map.
[[nodiscard]] bool wants_perf_map();

struct NamedFunction {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
};

/// Adds functions to this process's map; where it cannot be written nothing happens.
void add_to_perf_map(const std::vector<NamedFunction>& functions);

}  // namespace etalon::compiled
