#include "tools/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <ostream>
#include <set>

#include "spec/error.hpp"
#include "tools/bench/agreement.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/quantity_text.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

/// Long against the clock, and short enough that most samples end before the scheduler gives the core to somebody else.
constexpr double sample_seconds = 0.005;
constexpr std::size_t most_samples = 200;
constexpr std::int64_t most_runs = 10'000'000;  // of one sample

/// Everybody who takes part, and what they are handed.
struct Hall {
  const BenchOptions& options;
  std::vector<Entrant> entrants;
  Entrant reference;  ///< Etalon again, asked in f64
  fs::path folder;

  [[nodiscard]] milliseconds limit() const {
    return milliseconds(static_cast<std::int64_t>(1000 * std::max(options.limit, 10 * options.seconds_per_workload)));
  }
};

/// A competitor at the workload at hand.
struct Lane {
  Entrant* entrant = nullptr;
  Measurement* measurement = nullptr;
  Pace pace;
  double used = 0;
  double expected = 0;  ///< seconds of the next sample
};

Verdict verdict_of(End end) {
  if (end == End::not_offered) return Verdict::not_offered;
  return end == End::late ? Verdict::late : Verdict::failed;
}

Task task_of(const Hall& hall, const Workload& workload, unsigned threads, const std::string& who) {
  Task task{workload.name, workload.recipe, workload.sizes, threads, false, {}, (hall.folder / who).string()};
  for (const InputSpec& spec : workload.inputs) {
    if (spec.values != Values::zeros)
      task.inputs.push_back((hall.folder / "inputs" / std::to_string(task.inputs.size())).string());
  }
  return task;
}

void write_inputs(const Hall& hall, const Workload& workload) {
  const std::vector<HostTensor> tensors = drawn_inputs(workload, hall.options.seed);
  std::size_t number = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (workload.inputs[i].values == Values::zeros) continue;
    const fs::path path = hall.folder / "inputs" / std::to_string(number++);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(tensors[i].bytes.data()),
               static_cast<std::streamsize>(tensors[i].bytes.size()));
    if (!file.flush()) throw IoError(path.string() + ": the file cannot be written");
  }
}

/// The outputs in f64; without them nobody's time is quoted.
Answer<Truth> truth_for(Hall& hall, const Workload& workload) {
  Task task = task_of(hall, workload, hall.options.threads.back(), "truth");
  task.wide = true;
  const Answer<Prepared> wide = hall.reference.prepare(task, hall.limit());
  hall.reference.end();
  if (wide.end != End::done) return {wide.end, "no f64 values to compare with: " + wide.why, {}};
  return {End::done, "", truth_of(wide.value)};
}

/// Prepares one competitor and says whether its time may be quoted.
bool admit(Hall& hall, Entrant& entrant, const Task& task, const Answer<Truth>& truth, Measurement& m) {
  const Answer<Prepared> prepared = entrant.prepare(task, hall.limit());
  m.note = prepared.end == End::done ? prepared.value.setting : prepared.why;
  m.verdict = prepared.end == End::done ? Verdict::limit : verdict_of(prepared.end);
  if (prepared.end != End::done) return false;
  m.first_seconds = prepared.value.first_seconds;
  if (entrant.seat().is_limit) return true;
  if (truth.end != End::done) {
    m.verdict = verdict_of(truth.end);
    m.note = truth.why;
    return false;
  }
  m.error = std::min(1e300, share_of_allowed_error(truth.value, prepared.value.outputs));
  m.verdict = m.error <= 1 ? Verdict::agrees : Verdict::disagrees;
  return m.verdict == Verdict::agrees;
}

/// One sample of the lane. A competitor that fails now keeps no time at all.
void take(Hall& hall, Lane& lane) {
  const Answer<double> found = lane.entrant->sample(lane.pace.runs, lane.pace.warm, hall.limit());
  if (found.end != End::done) {
    lane.measurement->seconds.clear();
    lane.measurement->verdict = verdict_of(found.end);
    lane.measurement->note = found.why;
    lane.entrant = nullptr;
    return;
  }
  const double one = found.value / static_cast<double>(lane.pace.runs);
  lane.measurement->seconds.push_back(one);
  lane.expected = found.value + (lane.pace.warm ? one : 0);
  lane.used += lane.expected;
}

/// Finds the pace: a first run is often slow (caches, pages), and a very short one is mostly the clock's.
void find_pace(Hall& hall, Lane& lane) {
  const double budget = hall.options.seconds_per_workload;
  lane.pace = {1, false, 1};
  take(hall, lane);
  while (lane.entrant != nullptr && lane.expected <= budget) {
    take(hall, lane);
    if (lane.expected >= sample_seconds / 4 || lane.pace.runs >= most_runs) break;
    lane.pace.runs *= 8;
  }
  if (lane.entrant == nullptr) return;
  lane.pace = pace_of(lane.measurement->seconds.back(), budget);
  lane.used = 0;
  lane.expected = lane.measurement->seconds.back() * static_cast<double>(lane.pace.runs + (lane.pace.warm ? 1 : 0));
  // What took the whole budget is a sample by itself; the rest were no samples yet.
  if (lane.pace.least > 1) lane.measurement->seconds.clear();
}

/// Rounds until nobody wants another sample. Each has an equal share of the time, so that a slow one holds up nobody.
void take_in_turn(Hall& hall, std::vector<Lane>& lanes) {
  for (Lane& lane : lanes) find_pace(hall, lane);
  const double share = hall.options.seconds_per_workload / static_cast<double>(std::max<std::size_t>(1, lanes.size()));
  bool any = true;
  for (std::size_t round = 0; any; ++round) {
    any = false;
    for (const std::size_t i : order_of_round(lanes.size(), round)) {
      Lane& lane = lanes[i];
      if (lane.entrant == nullptr) continue;
      const std::size_t taken = lane.measurement->seconds.size();
      if (taken >= lane.pace.least && (lane.used + lane.expected > share || taken >= most_samples)) continue;
      take(hall, lane);
      any = true;
    }
  }
}

Cell empty_cell(const Hall& hall, const Workload& workload, unsigned threads) {
  Cell cell{workload.name,
            workload.group,
            workload.what,
            workload.quantity == Quantity::first_call,
            workload.flops,
            threads,
            {},
            workload.size};
  for (const Entrant& entrant : hall.entrants) {
    Measurement m;
    m.competitor = entrant.seat().name;
    cell.measurements.push_back(std::move(m));
  }
  return cell;
}

Cell measure_runs(Hall& hall, const Workload& workload, unsigned threads, const Answer<Truth>& truth) {
  Cell cell = empty_cell(hall, workload, threads);
  // Programs of scale are long, and nobody asks this of them.
  if (workload.size == 0) cell.bytes = least_bytes(program_of(workload, DType::f32));
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < hall.entrants.size(); ++i) {
    Entrant& entrant = hall.entrants[i];
    if (admit(hall, entrant, task_of(hall, workload, threads, entrant.seat().name), truth, cell.measurements[i]))
      lanes.push_back({&entrant, &cell.measurements[i], {}, 0, 0});
  }
  take_in_turn(hall, lanes);
  return cell;
}

/// The most memory around three runs of what was prepared.
Answer<Memory> memory_of_runs(Hall& hall, Entrant& entrant) {
  const Answer<double> runs = entrant.sample(3, false, hall.limit());
  if (runs.end != End::done) return {runs.end, runs.why, {}};
  Answer<Memory> memory = entrant.memory();
  if (memory.end == End::done && memory.value.peak < memory.value.before) memory.end = End::failed;
  return memory;
}

/// In another process, whose library has worked before: what a program takes, without what its library takes.
void measure_loaded(Hall& hall, Entrant& entrant, const Task& task, Measurement& m) {
  entrant.end();
  if (entrant.hello().end != End::done || entrant.load().end != End::done) return;
  if (entrant.prepare(task, hall.limit()).end != End::done) return;
  const Answer<Memory> memory = memory_of_runs(hall, entrant);
  if (memory.end == End::done) m.loaded_peak_bytes = memory.value.peak - memory.value.before;
}

/// A fresh process for each sample. One that fails once keeps no time at all. \returns whether another makes sense
bool measure_first_call(Hall& hall, Entrant& entrant, const Task& task, const Answer<Truth>& truth, Measurement& m) {
  entrant.end();
  const Answer<std::string> version = entrant.hello();  // the start of the process and of what it loads is not counted
  if (version.end != End::done) {
    m.verdict = verdict_of(version.end);
    m.note = version.why;
  }
  if (version.end != End::done || !admit(hall, entrant, task, truth, m)) {
    m.seconds.clear();
    return false;
  }
  m.seconds.push_back(m.first_seconds);
  const Answer<Memory> memory = memory_of_runs(hall, entrant);
  if (memory.end == End::done) {
    m.peak_bytes = std::max(m.peak_bytes, memory.value.peak - memory.value.before);
    m.process_bytes = std::max(m.process_bytes, memory.value.peak);
  }
  return true;
}

Cell measure_first_calls(Hall& hall, const Workload& workload, unsigned threads, const Answer<Truth>& truth) {
  Cell cell = empty_cell(hall, workload, threads);
  std::set<std::size_t> out;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; workload.keeps_code && i < hall.entrants.size(); ++i) {
    const Task task = task_of(hall, workload, threads, hall.entrants[i].seat().name);
    Measurement unused = cell.measurements[i];
    (void)measure_first_call(hall, hall.entrants[i], task, truth, unused);
  }
  for (std::size_t round = 0; round < 3; ++round) {
    const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (round > 0 && elapsed > 4 * hall.options.seconds_per_workload) break;
    for (const std::size_t i : order_of_round(hall.entrants.size(), round)) {
      if (out.contains(i)) continue;
      const Task task = task_of(hall, workload, threads, hall.entrants[i].seat().name);
      if (!measure_first_call(hall, hall.entrants[i], task, truth, cell.measurements[i])) out.insert(i);
    }
  }
  for (std::size_t i = 0; i < hall.entrants.size(); ++i) {
    Measurement& m = cell.measurements[i];
    const Task task = task_of(hall, workload, threads, hall.entrants[i].seat().name);
    if (!out.contains(i) && m.first_seconds <= hall.options.seconds_per_workload)
      measure_loaded(hall, hall.entrants[i], task, m);
  }
  return cell;
}

void tell(const Hall& hall, const Cell& cell) {
  if (hall.options.progress == nullptr) return;
  std::ostream& out = *hall.options.progress;
  for (const Measurement& m : cell.measurements) {
    if (!m.seconds.empty())
      out << fmt::format("  {} {}", m.competitor, time_text(summary_of(m.seconds).median));
    else if (m.verdict != Verdict::not_offered)
      out << fmt::format(
          "  {} {} ({})", m.competitor, name_of(m.verdict),
          m.verdict == Verdict::disagrees ? fmt::format("{:.3g} times the allowed error", m.error) : m.note);
  }
  out << std::endl;
}

void measure(Hall& hall, const Workload& workload, const std::string& number, std::vector<Cell>& cells) {
  write_inputs(hall, workload);
  const auto announce = [&](const std::string& what) {
    if (hall.options.progress != nullptr)
      *hall.options.progress << number << ' ' << workload.name << ", " << what << std::flush;
  };
  announce("values in f64\n");
  const Answer<Truth> truth = truth_for(hall, workload);
  const bool first_call = workload.quantity == Quantity::first_call;
  for (const unsigned threads : hall.options.threads) {
    // A first call is mostly compilation, which no backend spreads over threads.
    if (first_call && threads != hall.options.threads.front()) continue;
    announce(threads == 1 ? "1 thread:" : fmt::format("{} threads:", threads));
    cells.push_back(first_call ? measure_first_calls(hall, workload, threads, truth)
                               : measure_runs(hall, workload, threads, truth));
    tell(hall, cells.back());
  }
}

/// Those who are there; the others stand in the record with the reason.
std::vector<Entrant> invite(const BenchOptions& options, std::vector<Participant>& participants) {
  std::vector<Entrant> entrants;
  for (const Seat& seat : options.seats) {
    Participant participant{seat.name, "", seat.absent};
    if (seat.absent.empty()) {
      Entrant entrant(seat);
      const Answer<std::string> version = entrant.hello();
      participant.version = version.value + (seat.setting.empty() ? "" : ", " + seat.setting);
      participant.absent = version.why;
      if (version.end == End::done) entrants.push_back(std::move(entrant));
    }
    if (options.progress != nullptr) {
      *options.progress << participant.name << ": "
                        << (participant.absent.empty() ? participant.version : "not here, " + participant.absent)
                        << std::endl;
    }
    participants.push_back(std::move(participant));
  }
  return entrants;
}

}  // namespace

Pace pace_of(double seconds_of_one_run, double budget) {
  Pace pace;
  const double runs = sample_seconds / std::max(seconds_of_one_run, 1e-9);
  pace.runs = static_cast<std::int64_t>(std::clamp(runs, 1.0, static_cast<double>(most_runs)));
  pace.warm = seconds_of_one_run <= 0.2;
  pace.least = 3 * seconds_of_one_run <= 2 * budget ? 3 : 1;
  return pace;
}

Run run_bench(const BenchOptions& options) {
  Run run;
  run.version = ETALON_VERSION;
  run.date = date_now();
  run.seed = options.seed;
  run.seconds_per_workload = options.seconds_per_workload;
  run.machine = this_machine();
  std::vector<Entrant> entrants = invite(options, run.participants);
  Hall hall{options, std::move(entrants), Entrant(options.reference), options.scratch};
  fs::create_directories(hall.folder / "inputs");
  // Where competitors keep code: nobody else's is found, and none of it stays.
  setenv("ETALON_CACHE", (hall.folder / "code").c_str(), 1);
  fs::create_directories(hall.folder / "truth");
  for (const Entrant& entrant : hall.entrants) fs::create_directories(hall.folder / entrant.seat().name);
  for (std::size_t i = 0; i < options.workloads.size(); ++i) {
    measure(hall, options.workloads[i], fmt::format("[{}/{}]", i + 1, options.workloads.size()), run.cells);
    if (options.measured) options.measured(run);
  }
  run.machine.load_after = load_average();
  return run;
}

}  // namespace etalon::bench
