#include "tools/bench/bench.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "spec/error.hpp"
#include "tools/bench/seats.hpp"
#include "tools/bench/variants.hpp"
#include "tools/bench/statistics.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

namespace fs = std::filesystem;

/// A folder of the test's own.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "etalon-bench-test-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

std::string worker(const std::string& who) { return "exec '" ETALON_COMMAND "' bench worker " + who; }

BenchOptions options_in(const Folder& folder, const std::vector<std::string>& workloads) {
  BenchOptions options;
  options.workloads = workloads_named(workloads);
  options.threads = {1};
  options.seconds_per_workload = 0.01;
  options.scratch = folder.path;
  options.reference = {"etalon", worker("etalon"), ""};
  options.seats = {options.reference, {"copy", worker("copy"), "", true}};
  return options;
}

/// Answers every request at once; its outputs are zeros.
Seat liar(const Folder& folder) {
  const std::string file = (folder.path / "zeros").string();
  const std::string script = "head -c 1024 /dev/zero > '" + file +
                             "'; while read -r line; do case \"$line\" in "
                             "*hello*) echo '{\"version\": \"liar 1\"}';; "
                             "*prepare*) echo '{\"outputs\": [\"" +
                             file +
                             "\"], \"first_seconds\": 0}';; "
                             "*) echo '{\"seconds\": 0.001}';; esac; done";
  return {"liar", script, ""};
}

const Measurement& at(const Run& run, std::size_t cell, std::size_t competitor) {
  return run.cells.at(cell).measurements.at(competitor);
}

}  // namespace

TEST_CASE("a_small_run_compares_outputs_before_it_times", "[run]") {
  const Folder folder;
  BenchOptions options = options_in(folder, {"gemm-16", "train-moons", "first-call-moons"});
  options.seats.push_back({"gone", "", "not installed"});
  std::ostringstream progress;
  options.progress = &progress;
  const Run run = run_bench(options);
  REQUIRE(run.cells.size() == 3);
  REQUIRE(run.participants.size() == 3);
  CHECK(run.participants[2].absent == "not installed");
  for (std::size_t c = 0; c < 3; ++c) {
    INFO(run.cells[c].workload);
    REQUIRE(run.cells[c].measurements.size() == 2);
    const Measurement& etalon = at(run, c, 0);
    CHECK(etalon.verdict == Verdict::agrees);
    CHECK(etalon.error > 0);  // f32 is not f64: they were compared
    CHECK(etalon.error <= 1);
    CHECK_FALSE(etalon.seconds.empty());
    CHECK(at(run, c, 1).verdict == Verdict::not_offered);
  }
  CHECK(at(run, 2, 0).process_bytes >= at(run, 2, 0).peak_bytes);
  CHECK(progress.str().find("[2/3] train-moons, 1 thread:  etalon ") != std::string::npos);
  CHECK(progress.str().find("gone: not here, not installed") != std::string::npos);
}

TEST_CASE("a_device_is_measured_and_what_was_found_is_told_after_each_workload", "[run]") {
  const Folder folder;
  BenchOptions options = options_in(folder, {"gemm-16", "train-moons"});
  options.seats = {{"etalon", worker("etalon") + " --device cuda-emulated", ""}};
  std::vector<std::size_t> told;
  options.measured = [&](const Run& so_far) { told.push_back(so_far.cells.size()); };
  const Run run = run_bench(options);
  REQUIRE(run.participants.size() == 1);
  CHECK(run.participants[0].version.find("cuda-emulated") != std::string::npos);
  CHECK(told == std::vector<std::size_t>{1, 2});
  for (std::size_t c = 0; c < 2; ++c) {
    INFO(run.cells[c].workload);
    CHECK(at(run, c, 0).verdict == Verdict::agrees);
    CHECK(at(run, c, 0).error > 0);
    CHECK_FALSE(at(run, c, 0).seconds.empty());
    CHECK(run.cells[c].bytes == least_bytes(program_of(workload_named(run.cells[c].workload), DType::f32)));
  }
}

TEST_CASE("only_a_gpu_has_peers_that_work_on_one", "[run]") {
  const Folder folder;
  const Places places{"/bin/etalon", folder.path, "/no/such/python", "", 1, false};
  const std::vector<Seat> emulated = device_seats(places, "cuda-emulated"), card = device_seats(places, "cuda");
  REQUIRE(emulated.size() == 1);
  CHECK(emulated[0].command.ends_with("bench worker etalon --device 'cuda-emulated'"));
  std::vector<std::string> names;
  for (const Seat& seat : card) names.push_back(seat.name);
  CHECK(names == std::vector<std::string>{"etalon", "pytorch", "pytorch-graph", "pytorch-compile", "jax"});
  CHECK(card.back().absent == "/no/such/python has no JAX");
}

TEST_CASE("who_computes_something_else_has_no_time", "[run]") {
  const Folder folder;
  BenchOptions options = options_in(folder, {"gemm-16"});
  options.seats = {liar(folder),
                   {"sulker", "read -r line; echo '{\"version\": \"s\"}'; read -r line; exit 3", ""},
                   {"stranger", "echo hello; cat >/dev/null", ""},
                   {"missing", "/no/such/program", ""}};
  const Run run = run_bench(options);
  REQUIRE(run.cells.size() == 1);
  REQUIRE(run.cells[0].measurements.size() == 2);
  CHECK(at(run, 0, 0).verdict == Verdict::disagrees);
  CHECK(at(run, 0, 0).error > 1);
  CHECK(at(run, 0, 0).seconds.empty());
  CHECK(at(run, 0, 1).verdict == Verdict::failed);
  CHECK(at(run, 0, 1).note.find("exit status 3") != std::string::npos);
  CHECK(run.participants[2].absent.find("not understood") != std::string::npos);
  CHECK_FALSE(run.participants[3].absent.empty());
}

TEST_CASE("a_clock_that_says_what_it_likes_ends_the_run_too", "[run]") {
  const Folder folder;
  BenchOptions options = options_in(folder, {"gemm-16", "first-call-moons"});
  options.seats = {liar(folder), liar(folder)};
  options.seats[0].is_limit = true;
  options.seats[1].command = std::regex_replace(liar(folder).command, std::regex("0.001"), "-1");
  options.seats[1].is_limit = true;
  const Run run = run_bench(options);
  REQUIRE(run.cells.size() == 2);
  CHECK(at(run, 0, 0).verdict == Verdict::limit);
  CHECK_FALSE(at(run, 0, 0).seconds.empty());
  CHECK(at(run, 0, 1).verdict == Verdict::failed);
  CHECK(at(run, 0, 1).seconds.empty());
  CHECK(at(run, 1, 0).seconds.size() >= 1);
}

TEST_CASE("without_values_in_f64_no_time_is_quoted", "[run]") {
  const Folder folder;
  BenchOptions options = options_in(folder, {"gemm-16"});
  options.reference = {"etalon", "while read -r line; do echo '{\"failed\": \"no\"}'; done", ""};
  const Run run = run_bench(options);
  CHECK(at(run, 0, 0).verdict == Verdict::failed);
  CHECK(at(run, 0, 0).note == "no f64 values to compare with: no");
  CHECK(at(run, 0, 0).seconds.empty());
}

TEST_CASE("competitors_are_chosen_by_name", "[run]") {
  const std::vector<Seat> all{{"etalon", "a", ""}, {"pytorch", "b", ""}};
  CHECK(seats_named(all, {}).size() == 2);
  CHECK(seats_named(all, {"pytorch"}).front().command == "b");
  CHECK_THROWS_WITH(seats_named(all, {"pytroch"}), "unknown competitor 'pytroch'; did you mean 'pytorch'?");
}

TEST_CASE("every_decision_can_be_left_out", "[run]") {
  const std::vector<Seat> seats = ablation_seats({});
  REQUIRE(seats.size() == variants().size() + 1);
  CHECK(seats[0].name == "etalon");
  CHECK(seats[1].command.ends_with("etalon --without " + variants()[0].name));
  for (const Variant& v : variants()) {
    compiled::CompileOptions o;
    v.leave_out(o);
    const auto differs = [](const compiled::CompileOptions& a, const compiled::CompileOptions& b) {
      return a.off != b.off;
    };
    INFO(v.name);
    CHECK(differs(o, {}));
  }
  CHECK_THROWS_WITH(variant_named("fusoin"), "unknown decision 'fusoin'; did you mean 'fusion'?");
}
