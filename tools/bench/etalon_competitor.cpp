#include "tools/bench/etalon_competitor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "compiled/cache_folder.hpp"
#include "compiled/runtime/executable.hpp"
#include "tools/bench/roundings.hpp"
#include "tools/bench/variants.hpp"
#include "tools/bench/workload.hpp"

namespace etalon::bench {
namespace {

/// The value of an input where the store keeps it: no copy of it stays anywhere else.
void write(const InputSpec& spec, const Bytes& bytes, compiled::Store& store) {
  const auto count = static_cast<std::size_t>(spec.dims.count());
  compiled::Store::Entry& entry = store.entry(spec.name);
  if (spec.values == Values::zeros) {
    entry.written = true;
    std::memset(entry.buffer.data(), 0, entry.buffer.size());
    return;
  }
  if (bytes.size() != count * size_of(spec.dtype)) throw std::runtime_error(spec.name + ": bytes of another size");
  if (entry.dtype == spec.dtype) {
    store.write_bytes(spec.name, bytes);
    return;
  }
  const auto* from = reinterpret_cast<const float*>(bytes.data());
  const std::vector<double> wide(from, from + count);
  store.write_bytes(spec.name, std::as_bytes(std::span(wide)));
}

class EtalonCompetitor final : public Competitor {
 public:
  EtalonCompetitor(const Variant* variant, std::shared_ptr<compiled::Device> device) : variant_(variant), device_(std::move(device)) {}

  [[nodiscard]] std::string version() const override {
    if (device_ != nullptr) return "Etalon " ETALON_VERSION ", " + std::string(device_->name()) + ", each run with a wait for the device";
    const std::string own = "Etalon " ETALON_VERSION ", compiled CPU backend, LLVM " ETALON_LLVM_VERSION;
    return variant_ == nullptr ? own : own + ": " + variant_->what;
  }

  void load() override {
    const Workload small = workload_named("gemm-16");
    std::vector<HostTensor> inputs;
    for (const InputSpec& spec : small.inputs) inputs.emplace_back(spec.dtype, spec.dims);
    (void)compiled::compile(program_of(small, DType::f32)).run(inputs);
  }

  [[nodiscard]] Beginning prepare(const Job& job, const Give& give) override {
    bound_.reset();
    executable_.reset();
    store_ = compiled::Store();
    last_.clear();
    job_ = &job;
    workload_ = workload_named(job.workload);
    const auto start = std::chrono::steady_clock::now();
    compiled::CompileOptions options;
    options.threads = job.threads;
    if (!job.wide) options.device = device_;
    if (variant_ != nullptr) variant_->leave_out(options);
    if (workload_.keeps_code) options.cache = compiled::default_cache_folder();
    const spec::Program program = program_of(workload_, job.wide ? DType::f64 : DType::f32);
    executable_ = compiled::compile(program, options);
    executable_->declare(store_);
    write_inputs(false);
    bound_ = executable_->bind(store_);
    bound_->run_into(last_);
    Beginning beginning;
    beginning.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const HostTensor& result : last_) give(result.bytes);
    for (const std::string& name : workload_.compared_state) {
      const HostTensor value = store_.read(name);
      give(value.bytes);
    }
    if (job.wide) beginning.roundings = compared_roundings(program, workload_.compared_state);
    return beginning;
  }

  void reset() override { write_inputs(true); }

  /// On a device nobody asks for the outputs of a run that is timed.
  void run() override { device_ == nullptr ? bound_->run_into(last_) : bound_->run(); }

 private:
  void write_inputs(bool only_state) {
    std::size_t next = 0;
    for (const InputSpec& spec : workload_.inputs) {
      static const Bytes none;
      const bool given = spec.values != Values::zeros;
      if (given && next == job_->inputs.size()) throw std::runtime_error(spec.name + ": no such input was given");
      const Bytes& bytes = given ? job_->inputs[next++] : none;
      if (spec.is_state || !only_state) write(spec, bytes, store_);
    }
  }

  /// The outputs of the system are the program's, then the new values of its updates.
  [[nodiscard]] std::vector<double> compared_roundings(const spec::Program& program,
                                                       const std::vector<std::string>& state) const {
    const std::vector<double> all = longest_chains(executable_->system());
    const std::vector<spec::Update> updates = spec::all_updates(program);
    const auto outputs = static_cast<std::ptrdiff_t>(program.outputs.size());
    std::vector<double> found(all.begin(), all.begin() + outputs);
    for (const std::string& name : state) {
      const auto is_it = [&](const spec::Update& update) { return update.parameter == name; };
      const auto at = std::find_if(updates.begin(), updates.end(), is_it) - updates.begin();
      found.push_back(all.at(static_cast<std::size_t>(outputs + at)));
    }
    return found;
  }

  const Variant* variant_;
  std::shared_ptr<compiled::Device> device_;
  const Job* job_ = nullptr;  ///< the one that was prepared last
  Workload workload_;
  std::optional<compiled::Executable> executable_;
  compiled::Store store_;
  std::optional<compiled::Bound> bound_;
  std::vector<HostTensor> last_;
};

/// Reads so many bytes and writes as many; it has no outputs to compare.
class CopyCompetitor final : public Competitor {
 public:
  [[nodiscard]] std::string version() const override { return "memcpy, on one thread"; }

  [[nodiscard]] Beginning prepare(const Job& job, const Give&) override {
    if (job.threads != 1) throw NotOffered("one thread only");
    const Workload workload = workload_named(job.workload);
    if (workload.copied_bytes == 0) throw NotOffered("not a limit of this work");
    from_.assign(static_cast<std::size_t>(workload.copied_bytes), std::byte{1});
    to_.assign(from_.size(), std::byte{0});
    run();
    return {};
  }

  void run() override {
    std::memcpy(to_.data(), from_.data(), from_.size());
    // Without a reader a compiler may leave the copy out.
    asm volatile("" : : "r"(to_.data()) : "memory");
  }

 private:
  Bytes from_;
  Bytes to_;
};

}  // namespace

std::unique_ptr<Competitor> make_etalon_competitor(const std::string& without, std::shared_ptr<compiled::Device> device) {
  return std::make_unique<EtalonCompetitor>(without.empty() ? nullptr : &variant_named(without), std::move(device));
}
std::unique_ptr<Competitor> make_copy_competitor() { return std::make_unique<CopyCompetitor>(); }

}  // namespace etalon::bench
