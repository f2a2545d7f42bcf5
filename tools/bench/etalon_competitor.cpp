#include "tools/bench/etalon_competitor.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>

#include "compiled/cache_folder.hpp"
#include "compiled/executable.hpp"
#include "tools/bench/roundings.hpp"
#include "tools/bench/variants.hpp"
#include "tools/bench/workload.hpp"

namespace etalon::bench {
namespace {

HostTensor tensor_of(const InputSpec& spec, const Bytes& bytes, bool wide) {
  HostTensor given(spec.dtype, spec.dims);
  if (spec.values != Values::zeros) {
    if (bytes.size() != given.bytes.size()) throw std::runtime_error(spec.name + ": bytes of another size");
    given.bytes = bytes;
  }
  if (!wide || spec.dtype != DType::f32) return given;
  HostTensor doubled(DType::f64, spec.dims);
  const auto from = given.view<float>();
  std::copy(from.begin(), from.end(), doubled.view<double>().begin());
  return doubled;
}

class EtalonCompetitor final : public Competitor {
 public:
  explicit EtalonCompetitor(const Variant* variant) : variant_(variant) {}

  [[nodiscard]] std::string version() const override {
    const std::string own = "Etalon " ETALON_VERSION ", compiled CPU backend, LLVM " ETALON_LLVM_VERSION;
    return variant_ == nullptr ? own : own + ": " + variant_->what;
  }

  [[nodiscard]] Prepared prepare(const Job& job) override {
    bound_.reset();
    executable_.reset();
    store_ = compiled::Store();
    state_.clear();
    const Workload workload = workload_named(job.workload);
    std::vector<HostTensor> inputs = tensors_of(workload, job);
    const auto start = std::chrono::steady_clock::now();
    compiled::CompileOptions options;
    options.threads = job.threads;
    if (variant_ != nullptr) variant_->leave_out(options);
    if (workload.keeps_code) options.cache = compiled::default_cache_folder();
    const spec::Program program = program_of(workload, job.wide ? DType::f64 : DType::f32);
    executable_ = compiled::compile(program, options);
    put(workload, std::move(inputs));
    bound_ = executable_->bind(store_);
    std::vector<HostTensor> results;
    bound_->run_into(results);
    Prepared prepared;
    prepared.first_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const std::string& name : workload.compared_state) results.push_back(store_.read(name));
    for (HostTensor& result : results) prepared.outputs.push_back(std::move(result.bytes));
    if (job.wide) prepared.roundings = compared_roundings(program, workload.compared_state);
    return prepared;
  }

  void reset() override {
    for (const auto& [name, value] : state_) store_.write(name, value);
  }

  void run() override { bound_->run_into(last_); }

 private:
  [[nodiscard]] static std::vector<HostTensor> tensors_of(const Workload& workload, const Job& job) {
    std::vector<HostTensor> tensors;
    std::size_t next = 0;
    for (const InputSpec& spec : workload.inputs) {
      static const Bytes none;
      const bool given = spec.values != Values::zeros;
      if (given && next == job.inputs.size()) throw std::runtime_error(spec.name + ": no such input was given");
      tensors.push_back(tensor_of(spec, given ? job.inputs[next++] : none, job.wide));
    }
    return tensors;
  }

  void put(const Workload& workload, std::vector<HostTensor> inputs) {
    executable_->declare(store_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const InputSpec& spec = workload.inputs[i];
      store_.write(spec.name, inputs[i]);
      if (spec.is_state) state_.emplace_back(spec.name, std::move(inputs[i]));
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
  std::optional<compiled::Executable> executable_;
  compiled::Store store_;
  std::optional<compiled::Bound> bound_;
  std::vector<std::pair<std::string, HostTensor>> state_;
  std::vector<HostTensor> last_;
};

/// Reads so many bytes and writes as many; it has no outputs to compare.
class CopyCompetitor final : public Competitor {
 public:
  [[nodiscard]] std::string version() const override { return "memcpy, on one thread"; }

  [[nodiscard]] Prepared prepare(const Job& job) override {
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

std::unique_ptr<Competitor> make_etalon_competitor(const std::string& without) {
  return std::make_unique<EtalonCompetitor>(without.empty() ? nullptr : &variant_named(without));
}
std::unique_ptr<Competitor> make_copy_competitor() { return std::make_unique<CopyCompetitor>(); }

}  // namespace etalon::bench
