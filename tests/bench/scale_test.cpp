// How compiling grows with the program.
#include <catch2/catch.hpp>
#include <algorithm>
#include <ctime>
#include <map>
#include <sstream>
#include <string>

#include "compiled/runtime/executable.hpp"
#include "tools/bench/pages.hpp"
#include "tools/bench/process_memory.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

Cell cell(const std::string& group, double size, double seconds, std::uint64_t bytes, bool compiles) {
  Measurement m{"etalon", Verdict::agrees, "", {seconds}, 0.1, seconds, bytes, bytes};
  Cell c{group + "-" + std::to_string(static_cast<int>(size)), group, "work", compiles, compiles ? 0 : 4e9 * seconds, 1, {m}, size};
  return c;
}

}  // namespace

TEST_CASE("a_workload_of_scale_has_the_size_that_it_says", "[scale]") {
  std::map<std::string, double> last;
  std::size_t calls = 0;
  for (const Workload& w : scale_workloads()) {
    INFO(w.name);
    CHECK(w.size > last[w.group]);
    last[w.group] = w.size;
    CHECK(workload_named(w.name).name == w.name);
    if (w.quantity != Quantity::first_call) continue;
    CHECK(static_cast<double>(program_of(w, DType::f32).steps.size()) == w.size);
    ++calls;
  }
  CHECK(last.size() == 5);
  CHECK(calls == 8);
}

#ifndef ETALON_SANITIZED
namespace {

struct Cost {
  double seconds = 0;  ///< of this process, so that what else runs on the machine counts little
  double bytes = 0;    ///< the most above what was there before
};

Cost cost_of_compiling(const spec::Program& program) {
  const auto before = static_cast<double>(resident_bytes());
  forget_peak();
  const std::clock_t start = std::clock();
  const compiled::Executable executable = compiled::compile(program);
  const std::clock_t end = std::clock();
  REQUIRE(executable.report().kernels > 0);
  return {static_cast<double>(end - start) / CLOCKS_PER_SEC, std::max(0.0, static_cast<double>(peak_bytes()) - before)};
}

}  // namespace

TEST_CASE("compiling_ten_times_the_calls_takes_about_ten_times_the_time", "[scale]") {
  std::map<std::string, std::vector<Workload>> groups;
  for (Workload& w : scale_workloads()) {
    if (w.quantity == Quantity::first_call) groups[w.group].push_back(std::move(w));
  }
  REQUIRE(groups.size() == 2);
  for (const auto& [group, workloads] : groups) {
    const Workload &large = workloads.back(), &small = workloads[workloads.size() - 2];
    const double times = large.size / small.size;
    REQUIRE(times > 5);
    const spec::Program program = program_of(small, DType::f32);
    double seconds = 1e9;
    for (int trial = 0; trial < 3; ++trial) seconds = std::min(seconds, cost_of_compiling(program).seconds);
    const Cost found = cost_of_compiling(program_of(large, DType::f32));
    WARN(group << ": " << large.size << " calls take " << found.seconds / seconds << " times the time of " << small.size << ", "
               << found.bytes / large.size / 1024 << " KiB per call");
    // Caches that a large program leaves behind cost a factor of two or three; the square would be a factor of ten.
    CHECK(found.seconds < 4 * times * seconds);
    CHECK(found.bytes < large.size * 64 * 1024);
  }
}
#endif

TEST_CASE("a_run_of_scale_is_a_page_with_growth", "[scale][pages]") {
  Run run;
  run.participants = {{"etalon", "E", ""}};
  run.cells = {cell("calls", 10, 0.5, 1 << 20, true), cell("calls", 100, 10, 10 << 20, true), cell("width", 64, 0.001, 0, false)};
  REQUIRE(is_scale(run));
  std::ostringstream page, plot, json;
  write_scale(page, run);
  // Twenty times the time for ten times the calls is a growth of 2, ten times the memory one of 1.
  CHECK(page.str().find("| 100 | 10.0 s | 100 ms | 2.00 | 10.0 MiB | 102 KiB | 1.00 |") != std::string::npos);
  CHECK(page.str().find("| 64 | 1 | 1.00 ms | 1000 | 4.0 | 1.00 ms |") != std::string::npos);
  write_scale_plot(plot, run);
  const std::string drawn = plot.str();
  CHECK(drawn.find("steps/s against size") != std::string::npos);
  CHECK(std::count(drawn.begin(), drawn.end(), '\n') > 20);
  write_json(json, run);
  const Run again = read_json(json.str(), "run.json");
  REQUIRE(again.cells.size() == 3);
  CHECK(again.cells[1].size == 100);
  std::ostringstream page_again;
  write_scale(page_again, again);
  CHECK(page_again.str() == page.str());
}
