/// \file
/// What a run of the bench found, as data and as JSON. It measures nothing and draws nothing.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace etalon::bench {

/// The version of the JSON form; readers refuse any other.
inline constexpr int schema_version = 1;

/// The machine, and how busy it was.
struct Machine {
  std::string processor;
  std::string vectors;  ///< the widest vector instructions it has
  unsigned cores = 0;   ///< that the system shows
  std::vector<std::string> caches;
  std::string governor;  ///< `not readable` where the system does not say
  std::string system;
  std::string compiler;
  double load_before = 0;
  double load_after = 0;
};

/// Who took part, or why not.
struct Participant {
  std::string name;
  std::string version;  ///< with libraries that matter
  std::string absent;   ///< why it could not be asked; empty when it was
};

enum class Verdict : std::uint8_t {
  agrees,       ///< its output is within the scale of rounding of Etalon's in f64
  disagrees,    ///< it is not; its time is not quoted
  limit,        ///< no system, but what memory allows
  not_offered,  ///< it does not do this work
  late,         ///< no answer within the time limit
  failed
};
[[nodiscard]] const char* name_of(Verdict verdict);

/// One competitor at one workload.
struct Measurement {
  std::string competitor;
  Verdict verdict = Verdict::failed;
  std::string note;             ///< why, where it was not measured; else the setting that was fastest
  std::vector<double> seconds;  ///< of one run each; empty unless it agrees or is a limit
  double error = 0;             ///< largest share of the allowed error over the outputs
  double first_seconds = 0;
  std::uint64_t peak_bytes = 0;  ///< of first calls: the most memory above what the process had before
  std::uint64_t process_bytes = 0;
  std::uint64_t loaded_peak_bytes = 0;  ///< as `peak_bytes`, where the library had done a little work before
};

/// One workload on a number of threads, competitors in order.
struct Cell {
  std::string workload;
  std::string group;
  std::string what;
  bool is_first_call = false;
  double flops = 0;
  unsigned threads = 1;
  std::vector<Measurement> measurements;
  double size = 0;   ///< what the group varies; 0 where it varies nothing
  double bytes = 0;  ///< that it must move at least; 0 where nobody counted
};

struct Run {
  std::string version;
  std::string date;  ///< UTC
  std::uint64_t seed = 0;
  double seconds_per_workload = 0;
  Machine machine;
  std::vector<Participant> participants;
  std::vector<Cell> cells;
};

void write_json(std::ostream& out, const Run& run);
/// \throws IoError naming `path` and what is wrong
[[nodiscard]] Run read_json(const std::string& text, const std::string& path);

}  // namespace etalon::bench
