#include "tools/bench/workload.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/philox.hpp"
#include "tools/bench/workload_families.hpp"

namespace etalon::bench {
namespace {

/// Streams of the library's own random operations and of training begin elsewhere.
constexpr std::uint64_t stream = 0xBE7C4;

/// The step of the generator that belongs to a workload: a hash of its name (FNV-1a), so that new workloads move no
/// other's numbers.
std::uint64_t step_of(const std::string& name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash & 0xFFFFFF00U;
}

HostTensor drawn(const InputSpec& spec, std::uint64_t seed, std::uint64_t step) {
  HostTensor tensor(spec.dtype, spec.dims);
  if (spec.values == Values::zeros) return tensor;
  const auto count = static_cast<std::uint64_t>(spec.dims.count());
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint32_t word = spec::philox_word(seed, step, stream, n);
    if (spec.values == Values::classes) {
      const auto low = static_cast<std::int64_t>(spec.low);
      const auto choices = static_cast<std::uint32_t>(static_cast<std::int64_t>(spec.high) - low + 1);
      tensor.view<std::int64_t>()[n] = low + word % choices;
    } else if (spec.values == Values::signs) {
      tensor.view<float>()[n] = word % 2 == 0 ? 1.0F : -1.0F;
    } else {
      const double share = static_cast<double>(word >> 8U) / 16777216.0;
      tensor.view<float>()[n] = static_cast<float>(spec.low + share * (spec.high - spec.low));
    }
  }
  return tensor;
}

}  // namespace

spec::Program program_of(const Workload& workload, DType real) {
  Tracer tracer(real);
  std::vector<Traced> values;
  for (const InputSpec& spec : workload.inputs) {
    const DType dtype = spec.dtype == DType::f32 ? real : spec.dtype;
    values.push_back(spec.is_state ? tracer.parameter(spec.name, dtype, spec.dims)
                                   : tracer.input(spec.name, dtype, spec.dims));
  }
  workload.body(tracer, values);
  return tracer.finish();
}

double least_bytes(const spec::Program& program) {
  const std::map<std::string, spec::ValueType> types = spec::types_of(program);
  double bytes = 0;
  const auto add = [&](const std::string& name) {
    const spec::ValueType& type = types.at(name);
    bytes += static_cast<double>(type.dims.count()) * static_cast<double>(size_of(type.dtype));
  };
  for (const spec::Input& input : program.inputs) {
    if (input.role != spec::Role::constant) add(input.name);
  }
  for (const std::string& output : program.outputs) add(output);
  for (const spec::Update& update : spec::all_updates(program)) add(update.parameter);
  return bytes;
}

std::vector<HostTensor> drawn_inputs(const Workload& workload, std::uint64_t seed) {
  std::vector<HostTensor> tensors;
  std::uint64_t step = step_of(workload.name);
  for (const InputSpec& spec : workload.inputs) tensors.push_back(drawn(spec, seed, step++));
  return tensors;
}

std::vector<Workload> all_workloads() {
  std::vector<Workload> all;
  add_products(all);
  add_convolutions(all);
  add_rows(all);
  add_models(all);
  return all;
}

std::vector<Workload> large_workloads() {
  std::vector<Workload> all;
  add_large_products(all);
  add_large_rows(all);
  for (Workload& w : all) w.group = "large";
  return all;
}

std::vector<Workload> device_workloads() {
  std::vector<Workload> all = large_workloads();
  std::ranges::copy_if(all_workloads(), std::back_inserter(all), [](const Workload& w) { return w.quantity == Quantity::run; });
  return all;
}

std::vector<Workload> workloads_named(const std::vector<std::string>& words, const std::vector<Workload>& all) {
  if (words.empty()) return all;
  std::vector<std::string> names;
  for (const Workload& w : all) {
    names.push_back(w.name);
    if (std::find(names.begin(), names.end(), w.group) == names.end()) names.push_back(w.group);
  }
  for (const std::string& word : words) {
    if (std::find(names.begin(), names.end(), word) == names.end())
      throw SpecViolation(unknown_name("workload", word, names));
  }
  std::vector<Workload> chosen;
  for (const Workload& w : all) {
    const auto is_named = [&](const std::string& word) { return word == w.name || word == w.group; };
    if (std::any_of(words.begin(), words.end(), is_named)) chosen.push_back(w);
  }
  return chosen;
}

Workload workload_named(const std::string& name) {
  std::vector<std::string> names;
  // One after the other: those of a sweep have thousands of inputs, which nobody needs who does other work.
  for (const auto& family : {all_workloads, large_workloads, scale_workloads}) {
    for (Workload& w : family()) {
      if (w.name == name) return std::move(w);
      names.push_back(w.name);
    }
  }
  throw SpecViolation(unknown_name("workload", name, names));
}

}  // namespace etalon::bench
