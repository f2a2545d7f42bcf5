#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include <fmt/format.h>

#include "tools/bench/bench.hpp"
#include "tools/bench/etalon_competitor.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/pages.hpp"
#include "tools/bench/seats.hpp"
#include "tools/bench/worker.hpp"
#include "tools/command/bench.hpp"
#include "tools/command/devices.hpp"
#endif

namespace etalon::command {

#ifdef ETALON_HAS_COMPILED

namespace {

namespace fs = std::filesystem;

constexpr const char* bench_examples = R"(
Competitors do the same work side by side: each in its own process, outputs compared with Etalon's in f64 before a time is
quoted, short samples taken in turn, medians and best. Peers that are not installed are named and left out. Ratios are the
peer's median over Etalon's: above 1 Etalon is faster. Compare ratios of one run; absolute times hold for one machine. On a
device inputs and results stay where they are, and a time is that of many runs in a row over their number.

Examples
  etalon bench --list                                    the workloads, by group
  etalon bench --ablate --only training --threads 1      what each decision of the compiler buys
  etalon bench --only train-cnn --programs /tmp          its program, for etalon compile
  etalon bench                                           everything, some minutes
  etalon bench --only gemm,train-mlp --threads 1         a group and a workload
  etalon bench --competitors etalon,onednn --only conv
  etalon bench --competitors etalon,libtorch,pytorch --only training --threads 1
  etalon bench --json run.json --markdown run.md         with all numbers, and as a page with its plot run-1.svg
  etalon bench report run.json --markdown docs/performance.md
  etalon bench scale                                     against width, depth, batch and the number of calls
  etalon bench --device cuda --only large                on a GPU, beside PyTorch and JAX there
  etalon bench bits                                      the same bits with 1, 2 and 3 threads?
Exit status: 0 measured, whoever was faster; 1 an output of Etalon's own was wrong or missing; 2 usage or set-up error.)";

/// A folder that is gone when the run is, also when the run is interrupted: it holds hundreds of MiB.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "etalon-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw file_error(name, "the folder cannot be made", errno);
    path_ = name;
    sigset_t ends = signals();
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
    watch_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    watch_.request_stop();
    watch_.join();
    remove();
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  [[nodiscard]] static sigset_t signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    return set;
  }

  // Competitors see the end of their input and end by themselves.
  void watch(const std::stop_token& stop) const {
    const sigset_t ends = signals();
    const timespec while_waiting{0, 50'000'000};
    while (!stop.stop_requested()) {
      const int signal = sigtimedwait(&ends, nullptr, &while_waiting);
      if (signal <= 0) continue;
      remove();
      _exit(128 + signal);
    }
  }

  void remove() const {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  fs::path path_;
  std::jthread watch_;
};

struct BenchWords {
  std::vector<std::string> only, competitors, files;
  std::vector<unsigned> threads{1, 2};
  double seconds = 4;
  std::uint64_t seed = 1;
  bool list = false, quiet = false, ablate = false, scale = false;
  double limit = 120;
  std::string programs, without, device = "cpu";
  std::string json, markdown, python, competitor, openmp_waits = "auto";
  std::string torch_blas = "/usr/lib/x86_64-linux-gnu/openblas-openmp";
};

/// The page, and a plot per run beside it: `performance.md` and `performance-1.svg`.
void write_page(const fs::path& path, const std::vector<bench::Run>& runs) {
  std::vector<std::string> plots;
  for (const bench::Run& run : runs) {
    if (bench::is_ablation(run)) {
      plots.emplace_back();
      continue;
    }
    const std::string plot = fmt::format("{}-{}.svg", path.stem().string(), plots.size() + 1);
    const auto draw = bench::is_scale(run) ? bench::write_scale_plot : bench::write_plot;
    write_file(path.parent_path() / plot, [&](std::ostream& out) { draw(out, run); });
    plots.push_back(plot);
  }
  write_file(path, [&](std::ostream& out) { bench::write_markdown(out, runs, plots); });
}

/// The programs as text, for `etalon compile` and `etalon run`.
void write_programs(const std::vector<bench::Workload>& workloads, const fs::path& folder) {
  make_folder(folder);
  for (const bench::Workload& w : workloads) write_file(folder / (w.name + ".txt"), spec::to_text(bench::program_of(w, DType::f32)));
}

void list(const std::vector<bench::Workload>& workloads) {
  for (const bench::Workload& w : workloads) std::cout << fmt::format("{:12} {:24} {}\n", w.group, w.name, w.what);
}

/// Wrong words are refused before minutes are spent, and so are files that cannot be written.
void check_words(const BenchWords& words) {
  if (words.threads.empty()) throw SpecViolation("--threads: at least one number is needed");
  (void)device_named(words.device);
  for (const std::string& path : {words.json, words.markdown}) {
    if (!path.empty()) check_writable(path);
  }
}

/// Whether others want the cores that a run of so many threads needs.
[[nodiscard]] bool is_busy(const BenchWords& words) {
  if (words.openmp_waits != "auto") return words.openmp_waits == "passive";
  return bench::load_average() > 0.5;
}

void show(const bench::Run& run) {
  bench::is_scale(run) ? bench::write_scale(std::cout, run) : bench::write_table(std::cout, run);
}

[[nodiscard]] bool is_sound(const bench::Run& run) {
  for (const bench::Cell& cell : run.cells) {
    for (const bench::Measurement& m : cell.measurements) {
      if (m.competitor == "etalon" && m.verdict != bench::Verdict::agrees) return false;
    }
  }
  return true;
}

[[nodiscard]] std::vector<bench::Workload> workloads_of(const BenchWords& words) {
  if (words.scale) return bench::workloads_named(words.only, bench::scale_workloads());
  return bench::workloads_named(words.only, words.device == "cpu" ? bench::all_workloads() : bench::device_workloads());
}

/// Who may take part, Etalon first.
[[nodiscard]] std::vector<bench::Seat> seats_of(const BenchWords& words, const bench::Places& places) {
  if (words.device != "cpu") return bench::device_seats(places, words.device);
  return words.ablate || words.scale ? bench::ablation_seats(places) : bench::seats(places);
}

[[nodiscard]] int run_bench(const BenchWords& words) {
  bench::BenchOptions options;
  options.workloads = workloads_of(words);
  if (!words.programs.empty()) {
    write_programs(options.workloads, words.programs);
    return 0;
  }
  if (words.list) {
    list(options.workloads);
    return 0;
  }
  check_words(words);
  const Scratch scratch;
  options.scratch = scratch.path();
  const bench::Places places{fs::read_symlink("/proc/self/exe"),
                             scratch.path(),
                             words.python,
                             words.torch_blas,
                             *std::max_element(words.threads.begin(), words.threads.end()),
                             is_busy(words)};
  const std::vector<bench::Seat> all = seats_of(words, places);
  options.seats = bench::seats_named(all, words.scale ? std::vector<std::string>{all.front().name} : words.competitors);
  options.reference = all.front();
  options.threads = words.threads;
  options.limit = words.limit;
  options.seconds_per_workload = words.seconds;
  options.seed = words.seed;
  if (!words.quiet) options.progress = &std::cerr;
  // Also what was measured before a run is ended.
  if (!words.json.empty()) options.measured = [&](const bench::Run& run) { write_file(words.json, [&](std::ostream& out) { bench::write_json(out, run); }); };
  const bench::Run found = bench::run_bench(options);
  if (!words.json.empty()) write_file(words.json, [&](std::ostream& out) { bench::write_json(out, found); });
  if (!words.markdown.empty()) write_page(words.markdown, {found});
  show(found);
  return is_sound(found) ? 0 : 1;
}

[[nodiscard]] int report(const BenchWords& words) {
  std::vector<bench::Run> runs;
  for (const std::string& path : words.files) runs.push_back(bench::read_json(read_file(path), path));
  if (!words.markdown.empty())
    write_page(words.markdown, runs);
  else
    for (const bench::Run& one : runs) show(one);
  return 0;
}

/// The process of a competitor; runs of the bench start it.
[[nodiscard]] int worker(const BenchWords& words) {
  if (words.competitor != "etalon" && words.competitor != "copy")
    throw SpecViolation("bench worker: expected etalon or copy, found '" + words.competitor + "'");
  const auto competitor =
      words.competitor == "copy" ? bench::make_copy_competitor() : bench::make_etalon_competitor(words.without, device_named(words.device));
  bench::serve(*competitor, std::cin, std::cout);
  return 0;
}

constexpr const char* scale_examples = R"(
Training steps of an MLP against its width, depth and batch: steps a second. Programs of 10 to 10,000 calls, forward and as
training steps: time and peak memory from the program to its first results, each in a fresh process. Outputs are compared
with those in f64 before a number is quoted. Growth of 1 means: like the size.

Examples
  etalon bench scale                                 everything, some minutes
  etalon bench scale --list                          groups and workloads
  etalon bench scale --only calls,step-calls         compile time and memory
  etalon bench scale --only width --threads 1,2 --json scale.json --markdown scale.md
Exit status: 0 measured; 1 an output was wrong or missing; 2 usage or set-up error.)";

void add_scale(Command bench, Outcome& outcome) {
  Command command = bench.command("scale", "Measure against width, depth, batch and the number of calls");
  command.footer(scale_examples);
  auto words = std::make_shared<BenchWords>();
  words->scale = true;
  words->threads = {1};
  words->seconds = 1;
  command.flag("--list", words->list, "Print group, name and meaning of the workloads, and stop");
  command.option("--programs", words->programs, "Write the programs of the workloads to this folder, and stop");
  command.option("--only", words->only, "Only these workloads or groups, separated by commas").separated_by(',');
  command.option("--threads", words->threads, "Numbers of threads, separated by commas")
      .separated_by(',')
      .between(1, 256);
  command.option("--seconds-per-workload", words->seconds, "Of samples; slow work may take three samples")
      .between(0.001, 3600.0)
      .with_default();
  command.option("--seed", words->seed, "Of the inputs").with_default();
  command.option("--json", words->json, "Write every sample and the machine to this file");
  command.option("--markdown", words->markdown, "Write a page to this file and its plot beside it");
  command.flag("--quiet", words->quiet, "No progress");
  command.callback([=, &outcome] { outcome.status = run_bench(*words); });
}

}  // namespace

void add_bench(Command app, Outcome& outcome) {
  Command command = app.command("bench", "Measure the compiled backend beside other systems");
  command.footer(bench_examples);
  auto words = std::make_shared<BenchWords>();
  command.option("--programs", words->programs, "Write the programs of the workloads to this folder, and stop");
  command.flag("--list", words->list, "Print group, name and meaning of the workloads, and stop");
  command.option("--only", words->only, "Only these workloads or groups, separated by commas").separated_by(',');
  command.option("--competitors", words->competitors,
                   "Only these: etalon, pytorch, pytorch-avx512, libtorch, libtorch-avx512, onednn, openblas, "
                   "openblas-avx512, libxsmm, copy; beside cuda etalon, pytorch, pytorch-graph, pytorch-compile, jax")
      .separated_by(',');
  command.option("--device", words->device, "Where Etalon runs, beside those who run there: cpu, cuda-emulated, cuda").with_default();
  command.option("--threads", words->threads, "Numbers of threads, separated by commas; of a device those that the values to compare with take")
      .separated_by(',')
      .between(1, 256);
  command.option("--limit", words->limit, "Seconds for one answer of a competitor at most; ten times those of samples where that is more")
      .between(0.001, 36000.0)
      .with_default();
  command.option("--seconds-per-workload", words->seconds,
                   "Of samples, for each number of threads; slow work may take three samples")
      .between(0.001, 3600.0)
      .with_default();
  command.option("--seed", words->seed, "Of the inputs").with_default();
  command.option("--json", words->json, "Write every sample and the machine to this file");
  command.option("--markdown", words->markdown, "Write a page to this file and its plot beside it");
  command.option("--python", words->python, "A Python that has PyTorch");
  command.option("--torch-blas", words->torch_blas,
                   "A folder with the libblas.so.3 that PyTorch and libtorch are to use, where there is one")
      .with_default();
  command.option("--openmp-waits", words->openmp_waits,
                   "How peers' threads wait: passive (they sleep), default, or auto: passive where others run")
      .one_of({"auto", "passive", "default"})
      .with_default();
  command.flag("--ablate", words->ablate,
                    "Instead of peers, Etalon without one decision of its compiler at a time: what each buys");
  command.flag("--quiet", words->quiet, "No progress");
  Command reporting = command.command("report", "Write pages from the JSON of runs");
  reporting.option("files", words->files, "JSON of runs, one section each").required();
  reporting.option("--markdown", words->markdown, "The page to write, plots beside it; else tables are printed");
  add_scale(command, outcome);
  Command working = command.command("worker", "The process of a competitor", true);
  working.option("competitor", words->competitor, "etalon or copy").required();
  working.option("--device", words->device, "Where it runs").with_default();
  working.option("--without", words->without, "A decision of Etalon's compiler that is left out");
  reporting.callback([=, &outcome] { outcome.status = report(*words); });
  working.callback([=, &outcome] { outcome.status = worker(*words); });
  add_bench_bits(command, outcome);
  command.alone([=, &outcome] { outcome.status = run_bench(*words); });
}

#else

void add_bench(Command app, Outcome&) {
  Command command = app.command("bench", "Measure the compiled backend beside other systems (not in this build)");
  command.allow_extras();
  command.callback([] { throw Unsupported("bench: not in this build; configure with -DETALON_COMPILED=ON"); });
}

#endif

}  // namespace etalon::command
