/// \file
/// What does the work of a recipe inside its own process: the side of a competitor that is timed. It knows nothing of
/// the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "spec/bytes.hpp"

namespace etalon::bench {

/// What is to be prepared. Inputs are dense and row-major: f32 for reals, i64 for classes.
struct Job {
  std::string workload;
  std::string recipe;
  std::map<std::string, std::int64_t> sizes;
  unsigned threads = 1;
  bool wide = false;  ///< in f64, from the same f32 inputs; only Etalon is asked for that
  std::vector<Bytes> inputs;
  [[nodiscard]] std::int64_t size(const std::string& name) const { return sizes.at(name); }
};

/// How one first run went.
struct Beginning {
  std::string setting;            ///< the best of the ways that were tried, where there are several
  double first_seconds = 0;       ///< from the inputs in memory to the first results
  std::vector<double> roundings;  ///< per output the longest chain of roundings; of wide jobs only
};

/// The same with its outputs, as others see it.
struct Prepared : Beginning {
  std::vector<Bytes> outputs;  ///< dense and row-major, of the element type of the job
};

/// Takes the outputs of a first run one after the other, dense and row-major, of the element type of the job. It keeps
/// none, so that no competitor needs a copy of all of them, which would count as memory that its work takes.
using Give = std::function<void(std::span<const std::byte>)>;

/// This competitor does not offer that work.
class NotOffered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Competitor {
 public:
  Competitor() = default;
  Competitor(const Competitor&) = delete;
  Competitor& operator=(const Competitor&) = delete;
  virtual ~Competitor() = default;

  /// Its version and what may matter for its speed.
  [[nodiscard]] virtual std::string version() const = 0;
  /// Does a little work, so that what its library loads on first use is in memory. Nothing need be done by those whose
  /// memory nobody asks for.
  virtual void load() {}
  /// Makes everything ready, drops what was prepared before, runs once and gives the outputs of that run. The job lasts
  /// until the next one. \throws NotOffered
  [[nodiscard]] virtual Beginning prepare(const Job& job, const Give& give) = 0;
  /// Puts state that runs change back to its first value; not timed.
  virtual void reset() {}
  /// One run of what was prepared; timed.
  virtual void run() = 0;
};

}  // namespace etalon::bench
