/// \file
/// Runs workloads on competitors side by side: outputs compared first, then samples taken in turn. It knows no
/// operation and prints nothing but its progress.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <vector>

#include "tools/bench/entrant.hpp"
#include "tools/bench/record.hpp"
#include "tools/bench/workload.hpp"

namespace etalon::bench {

struct BenchOptions {
  std::vector<Workload> workloads;
  std::vector<Seat> seats;  ///< who takes part, the absent included, in the order of tables
  Seat reference;           ///< Etalon, which is also asked for the values in f64
  std::vector<unsigned> threads{1, 2};
  double seconds_per_workload =
      4;  ///< of samples, per workload and number of threads; slow work may take three samples
  std::uint64_t seed = 1;
  std::filesystem::path scratch;  ///< a folder for tensors, hundreds of MiB
  std::ostream* progress = nullptr;
  double limit = 120;  ///< seconds for one answer at most, or ten times those of samples where that is more
  std::function<void(const Run&)> measured{};  ///< gets all that was found so far after each workload
};

/// How often something is run, from how long one run takes.
struct Pace {
  std::int64_t runs = 1;  ///< per sample: a sample is long against the clock and short against bursts of neighbours
  bool warm = true;       ///< one run before each sample, because competitors evict each other from the caches
  std::size_t least = 3;  ///< samples that are taken whatever they cost
};
[[nodiscard]] Pace pace_of(double seconds_of_one_run, double budget);

/// \throws IoError when there is no place for files
[[nodiscard]] Run run_bench(const BenchOptions& options);

}  // namespace etalon::bench
