#include "tools/bench/bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/executable.hpp"
#include "spec/error.hpp"
#include "spec/sha256.hpp"

namespace etalon::bench {
namespace {

/// What one setting gave.
struct Given {
  std::vector<NamedTensor> tensors;
  std::size_t kernels = 0;
  std::size_t shared = 0;
};

Given given_by(const Workload& workload, const spec::Program& program, const std::vector<HostTensor>& inputs, const Setting& setting) {
  compiled::CompileOptions options;
  options.threads = setting.threads;
  options.device = setting.device ? setting.device : std::make_shared<compiled::Processor>(setting.machine);
  options.schedule.middle_cache_bytes = setting.second_cache;
  options.least_shared_work = 0;
  const compiled::Executable executable = compiled::compile(program, options);
  compiled::Store store;
  executable.declare(store);
  for (std::size_t i = 0; i < inputs.size(); ++i) store.write(workload.inputs[i].name, inputs[i]);
  Given given{{}, executable.report().kernels, executable.report().shared_kernels};
  for (std::size_t run = 1; run <= runs_compared; ++run) {
    std::vector<HostTensor> outputs = executable.run(store);
    for (std::size_t o = 0; o < outputs.size(); ++o)
      given.tensors.emplace_back(fmt::format("{} of run {}", program.outputs[o], run), std::move(outputs[o]));
  }
  for (const InputSpec& spec : workload.inputs) {
    if (spec.is_state) given.tensors.emplace_back(spec.name, store.read(spec.name));
  }
  return given;
}

std::string hash_of(const std::vector<NamedTensor>& tensors) {
  Sha256 hash;
  for (const auto& [name, tensor] : tensors) {
    hash.add(fmt::format("{} {}{}\n", name, name_of(tensor.dtype), to_string(tensor.dims))).add(tensor.bytes);
  }
  return hash.hexadecimal();
}

}  // namespace

std::string first_difference(std::span<const NamedTensor> a, std::span<const NamedTensor> b) {
  if (a.size() != b.size()) return fmt::format("{} tensors and {}", a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    const Bytes& one = a[t].second.bytes;
    const Bytes& other = b[t].second.bytes;
    const auto at = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    if (at.first != one.end() || at.second != other.end()) return fmt::format("{}, byte {}", a[t].first, at.first - one.begin());
  }
  return {};
}

std::string to_text(const Setting& setting) {
  if (setting.device) return std::string(setting.device->name());
  const std::string cache = setting.second_cache ? fmt::format(", {} KiB", *setting.second_cache / 1024) : "";
  return fmt::format("{} {}, {}{}", setting.threads, setting.threads == 1 ? "thread" : "threads",
                     setting.machine.name, cache);
}

compiled::Machine machine_named(const std::string& name) {
  for (const compiled::Machine& machine : {compiled::machines::avx512, compiled::machines::avx2}) {
    if (machine.name == name) return machine;
  }
  throw SpecViolation(fmt::format("bits: --vectors: avx512 and avx2 are known, got `{}`", name));
}

std::vector<Setting> settings_of(std::span<const unsigned> threads, std::span<const compiled::Machine> machines,
                                 std::span<const std::int64_t> second_caches) {
  if (threads.empty() || machines.empty()) throw SpecViolation("bits: at least one number of threads and one width of vectors are needed");
  const Setting first{threads[0], machines[0]};
  std::vector<Setting> all{first};
  for (const unsigned other : threads.subspan(1)) all.push_back({other, first.machine});
  for (const compiled::Machine& other : machines.subspan(1)) all.push_back({first.threads, other});
  for (const std::int64_t other : second_caches) all.push_back({first.threads, first.machine, other});
  if (!second_caches.empty()) all.push_back({threads.back(), machines.back(), second_caches.back()});
  return all;
}

Bits bits_of(const Workload& workload, std::span<const Setting> settings, std::uint64_t seed) {
  if (settings.empty()) throw SpecViolation("bits: at least one setting is needed");
  const spec::Program program = program_of(workload, DType::f32);
  const std::vector<HostTensor> inputs = drawn_inputs(workload, seed);
  Bits found;
  found.workload = workload.name;
  found.settings.assign(settings.begin(), settings.end());
  Given first;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    Given given = given_by(workload, program, inputs, settings[i]);
    found.hashes.push_back(hash_of(given.tensors));
    if (i == 0) {
      first = std::move(given);
      continue;
    }
    const std::string where = first_difference(first.tensors, given.tensors);
    if (!where.empty() && found.equal()) found.different = fmt::format("{}, with {} and with {}", where, to_text(settings[0]), to_text(settings[i]));
  }
  found.tensors = first.tensors.size();
  for (const auto& [name, tensor] : first.tensors) found.bytes += tensor.bytes.size();
  found.kernels = first.kernels;
  found.shared_kernels = first.shared;
  return found;
}

std::string to_text(const Bits& found) {
  std::string verdict = "equal";
  if (!found.equal()) verdict = "DIFFERENT: " + found.different;
  return fmt::format("{:24} {:>3} of {:>3} kernels shared  {:>10} bytes  {:.16}  {}", found.workload, found.shared_kernels, found.kernels,
                     found.bytes, found.hashes.front(), verdict);
}

void write_json(std::ostream& out, std::span<const Bits> found, std::uint64_t seed) {
  using Json = nlohmann::ordered_json;
  Json workloads = Json::array();
  for (const Bits& b : found) {
    Json texts = Json::array();
    for (const Setting& setting : b.settings) texts.push_back(to_text(setting));
    workloads.push_back({{"workload", b.workload},
                         {"equal", b.equal()},
                         {"different", b.different},
                         {"settings", texts},
                         {"sha256", b.hashes},
                         {"tensors", b.tensors},
                         {"bytes", b.bytes},
                         {"kernels", b.kernels},
                         {"shared_kernels", b.shared_kernels}});
  }
  const bool equal = std::all_of(found.begin(), found.end(), [](const Bits& b) { return b.equal(); });
  out << Json{{"schema", "etalon-bench-bits"}, {"version", 2}, {"order", compiled::order_profile}, {"seed", seed}, {"runs", runs_compared}, {"equal", equal}, {"workloads", workloads}}
             .dump(1)
      << '\n';
}

}  // namespace etalon::bench
