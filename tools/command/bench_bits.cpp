#ifdef ETALON_HAS_COMPILED

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "spec/file.hpp"
#include "tools/bench/bits.hpp"
#include "tools/command/bench.hpp"
#include "tools/command/devices.hpp"

namespace etalon::command {

namespace {

constexpr const char* bench_bits_examples = R"(
Each workload's program is compiled and run anew in each setting, twice in a row from the same inputs, drawn by Philox. A
setting is a number of threads, a width of vectors and a size of the second cache: the first of each, then each of the others
instead of it, then the last of all. Every output and all state that updates leave are compared byte for byte: sums have one
order on every machine that has vectors, `etalon-order-1`. Here threads share every kernel of more than one block, also those
that are too short for that otherwise. With --devices a setting is a device. A line has the number of them, the bytes compared, the
beginning of their SHA-256, and `equal` or the first byte that is not.

Examples
  etalon bench bits                                  every workload in seven settings
  etalon bench bits --only training --threads 1,7,64
  etalon bench bits --vectors avx2,avx512 --cache 256,2048
  etalon bench bits --devices cuda-emulated,cuda     the same bits on a GPU as on the emulated one?
  etalon bench bits --json bits.json                 with the whole hashes
Exit status: 0 equal, 1 something differs, 2 usage or set-up error.)";

struct BenchBitsWords {
  std::vector<std::string> only;
  std::vector<unsigned> threads{1, 2, 3};
  std::vector<std::string> vectors{"avx512", "avx2"};
  std::vector<std::int64_t> caches{256, 16384};  ///< KiB
  std::vector<std::string> devices;
  std::uint64_t seed = 1;
  std::string json;
};

[[nodiscard]] std::vector<bench::Setting> settings_by(const BenchBitsWords& words) {
  std::vector<bench::Setting> settings;
  for (const std::string& name : words.devices) settings.push_back({.device = device_named(name)});
  if (!settings.empty()) return settings;
  std::vector<compiled::Machine> machines;
  for (const std::string& name : words.vectors) machines.push_back(bench::machine_named(name));
  std::vector<std::int64_t> caches;
  for (const std::int64_t kib : words.caches) caches.push_back(kib * 1024);
  return bench::settings_of(words.threads, machines, caches);
}

[[nodiscard]] int compare(const BenchBitsWords& words) {
  const std::vector<bench::Workload> workloads = bench::workloads_named(words.only, words.devices.empty() ? bench::all_workloads() : bench::device_workloads());
  const std::vector<bench::Setting> settings = settings_by(words);
  if (!words.json.empty()) check_writable(words.json);
  std::vector<bench::Bits> found;
  for (const bench::Workload& workload : workloads) {
    found.push_back(bench::bits_of(workload, settings, words.seed));
    std::cout << to_text(found.back()) << std::endl;
  }
  std::size_t bytes = 0;
  for (const bench::Bits& b : found) bytes += b.bytes;
  const auto different = std::count_if(found.begin(), found.end(), [](const bench::Bits& b) { return !b.equal(); });
  std::cout << fmt::format("{} workloads, {} bytes each in {} settings: {}\n", found.size(), bytes, settings.size(),
                           different == 0 ? "all equal" : fmt::format("{} different", different));
  if (!words.json.empty()) write_file(words.json, [&](std::ostream& out) { bench::write_json(out, found, words.seed); });
  return different == 0 ? 0 : 1;
}

}  // namespace

void add_bench_bits(Command bench, Outcome& outcome) {
  Command command = bench.command("bits", "Compare the bits of every workload: threads, vectors, caches");
  command.footer(bench_bits_examples);
  auto words = std::make_shared<BenchBitsWords>();
  command.option("--only", words->only, "Only these workloads or groups, separated by commas").separated_by(',');
  command.option("--threads", words->threads, "Numbers of threads, separated by commas; the first is what others are compared with")
      .separated_by(',')
      .between(1, 256);
  command.option("--vectors", words->vectors, "Widths of vectors, separated by commas: avx512, avx2").separated_by(',');
  command.option("--cache", words->caches, "Sizes of the second cache in KiB that are said to be there, separated by commas").separated_by(',').between(1, 1 << 20);
  command.option("--devices", words->devices, "Devices in place of threads, vectors and caches, separated by commas: cpu, cuda-emulated, cuda; one may stand twice").separated_by(',');
  command.option("--seed", words->seed, "Of the inputs").with_default();
  command.option("--json", words->json, "Write the hashes to this file");
  command.callback([=, &outcome] { outcome.status = compare(*words); });
}

}  // namespace etalon::command

#endif
