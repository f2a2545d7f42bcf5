/// \file
/// A competitor as the run sees it: a process that answers the requests of worker.hpp. Whatever it does is an answer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/isolation/child_process.hpp"
#include "tools/bench/competitor.hpp"

namespace etalon::bench {

/// Where the process of a competitor comes from.
struct Seat {
  std::string name;
  std::string command;  ///< for the shell; empty when the competitor is not there
  std::string absent;   ///< why not
  bool is_limit = false;
  std::string setting{};  ///< what is set for its process, for the record
};

/// What a run hands to every competitor alike; reals and classes lie in files.
struct Task {
  std::string workload;
  std::string recipe;
  std::map<std::string, std::int64_t> sizes;
  unsigned threads = 1;
  bool wide = false;
  std::vector<std::string> inputs;
  std::string outputs;  ///< an empty folder
};

/// How a request ended; `why` says what was wrong.
enum class End : std::uint8_t { done, not_offered, late, failed };
template <class T>
struct Answer {
  End end = End::failed;
  std::string why;
  T value{};
};

struct Memory {
  std::uint64_t before = 0;
  std::uint64_t peak = 0;
};

class Entrant {
 public:
  explicit Entrant(Seat seat) : seat_(std::move(seat)) {}

  [[nodiscard]] const Seat& seat() const { return seat_; }
  /// Its version. A process is started where none is.
  [[nodiscard]] Answer<std::string> hello();
  /// Lets its library load what it loads on first use.
  [[nodiscard]] Answer<bool> load();
  [[nodiscard]] Answer<Prepared> prepare(const Task& task, std::chrono::milliseconds limit);
  /// Seconds for `runs` runs together, after one more where `warm`.
  [[nodiscard]] Answer<double> sample(std::int64_t runs, bool warm, std::chrono::milliseconds limit);
  [[nodiscard]] Answer<Memory> memory();
  /// Ends the process; the next request starts another.
  void end() { process_.reset(); }

 private:
  [[nodiscard]] Answer<std::string> ask(const std::string& line, std::chrono::milliseconds limit);

  Seat seat_;
  std::unique_ptr<conformance::ChildProcess> process_;
};

}  // namespace etalon::bench
