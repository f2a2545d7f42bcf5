#ifdef ETALON_HAS_COMPILED

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/bench/thread_bits.hpp"
#include "tools/command/bench.hpp"

namespace etalon::command {

namespace {

constexpr const char* bench_bits_examples = R"(
Each workload's program is compiled and run anew for each number of threads, twice in a row from the same inputs, drawn by
Philox. Every output and all state that updates leave are compared byte for byte. Here threads share every kernel of more
than one block, also those that are too short for that otherwise. A line has the number of them, the bytes compared, the
beginning of their SHA-256, and `equal` or the first byte that is not.

Examples
  etalon bench bits                                  every workload with 1, 2 and 3 threads
  etalon bench bits --only training --threads 1,7,64
  etalon bench bits --json bits.json                 with the whole hashes
Exit status: 0 equal, 1 something differs, 2 usage or set-up error.)";

struct BenchBitsWords {
  std::vector<std::string> only;
  std::vector<unsigned> threads{1, 2, 3};
  std::uint64_t seed = 1;
  std::string json;
};

[[nodiscard]] int compare(const BenchBitsWords& words) {
  const std::vector<bench::Workload> workloads = bench::workloads_named(words.only);
  if (words.threads.size() < 2) throw SpecViolation("bits: --threads: at least two numbers are needed to compare");
  if (!words.json.empty()) check_writable(words.json);
  std::vector<bench::ThreadBits> found;
  for (const bench::Workload& workload : workloads) {
    found.push_back(bench::thread_bits(workload, words.threads, words.seed));
    std::cout << to_text(found.back()) << std::endl;
  }
  std::size_t bytes = 0;
  for (const bench::ThreadBits& b : found) bytes += b.bytes;
  const auto different = std::count_if(found.begin(), found.end(), [](const bench::ThreadBits& b) { return !b.equal(); });
  std::cout << fmt::format("{} workloads, {} bytes each with {} numbers of threads: {}\n", found.size(), bytes, words.threads.size(),
                           different == 0 ? "all equal" : fmt::format("{} different", different));
  if (!words.json.empty()) write_file(words.json, [&](std::ostream& out) { bench::write_json(out, found, words.seed); });
  return different == 0 ? 0 : 1;
}

}  // namespace

void add_bench_bits(Command bench, Outcome& outcome) {
  Command command = bench.command("bits", "Compare the bits of every workload with 1, 2 and 3 threads");
  command.footer(bench_bits_examples);
  auto words = std::make_shared<BenchBitsWords>();
  command.option("--only", words->only, "Only these workloads or groups, separated by commas").separated_by(',');
  command.option("--threads", words->threads, "Numbers of threads, separated by commas; the first is what others are compared with")
      .separated_by(',')
      .between(1, 256);
  command.option("--seed", words->seed, "Of the inputs").with_default();
  command.option("--json", words->json, "Write the hashes to this file");
  command.callback([=, &outcome] { outcome.status = compare(*words); });
}

}  // namespace etalon::command

#endif
