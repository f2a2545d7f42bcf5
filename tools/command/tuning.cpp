#ifdef ETALON_HAS_COMPILED

#include "tools/command/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/schedule/neighbours.hpp"
#include "conformance/judge.hpp"
#include "spec/error.hpp"
#include "tools/bench/agreement.hpp"
#include "tools/bench/roundings.hpp"
#include "tools/bench/statistics.hpp"

namespace etalon::command {

namespace {

using compiled::DecisionLine;
using Clock = std::chrono::steady_clock;

/// What is faster by less may be the machine's mood.
constexpr double least_gain = 0.02;
/// So often is said how far the search is.
constexpr double seconds_between_words = 5;
/// A sample takes at least so long, in one run or several.
constexpr double least_sample = 2e-3;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Numbers without structure, so that another order of a sum shows in its bits.
HostTensor drawn(const spec::Input& input, std::mt19937_64& engine) {
  HostTensor t(input.dtype, input.dims);
  const auto fill = [&](auto like, const auto& draw) {
    for (auto& x : t.view<decltype(like)>()) x = static_cast<decltype(like)>(draw());
  };
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<std::int64_t> whole(input.range ? input.range->first : 0, input.range ? input.range->second : 1);
  switch (input.dtype) {
    case DType::f32: fill(float{}, [&] { return real(engine); }); break;
    case DType::f64: fill(double{}, [&] { return real(engine); }); break;
    case DType::f16: fill(std::uint16_t{}, [&] { return 0x3400U | (engine() & 0x83ffU); }); break;   // of magnitude 1/4 to 1/2
    case DType::bf16: fill(std::uint16_t{}, [&] { return 0x3e80U | (engine() & 0x807fU); }); break;  // the same
    case DType::i32: fill(std::int32_t{}, [&] { return whole(engine); }); break;
    case DType::i64: fill(std::int64_t{}, [&] { return whole(engine); }); break;
    case DType::boolean: fill(std::uint8_t{}, [&] { return engine() & 1U; }); break;
  }
  return t;
}

/// A program with some decisions, ready to run.
class Candidate {
 public:
  Candidate(const spec::Program& program, const compiled::CompileOptions& options, const std::vector<HostTensor>& values)
      : program_(program), values_(values), executable_(compiled::compile(program, options)) {
    executable_.declare(store_);
    write(true);
    bound_ = executable_.bind(store_);
    bound_->run_into(outputs_);
    results_ = outputs_;
    for (const spec::Update& u : spec::all_updates(program)) results_.push_back(store_.read(u.parameter));
  }

  [[nodiscard]] const std::vector<HostTensor>& results() const { return results_; }
  [[nodiscard]] const compiled::Executable& executable() const { return executable_; }

  /// Seconds of a run, the mean of so many.
  [[nodiscard]] double sample(std::size_t runs) {
    write(false);
    const auto start = Clock::now();
    for (std::size_t i = 0; i < runs; ++i) bound_->run_into(outputs_);
    return seconds_since(start) / static_cast<double>(runs);
  }

 private:
  /// Everything, or what updates have changed.
  void write(bool all) {
    const std::vector<spec::Update> updates = spec::all_updates(program_);
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      const spec::Input& input = program_.inputs[i];
      const bool changes = std::any_of(updates.begin(), updates.end(), [&](const spec::Update& u) { return u.parameter == input.name; });
      if (!input.value && (all || changes)) store_.write(input.name, values_[i]);
    }
  }

  const spec::Program& program_;
  const std::vector<HostTensor>& values_;
  compiled::Executable executable_;
  compiled::Store store_;
  std::optional<compiled::Bound> bound_;
  std::vector<HostTensor> outputs_;
  std::vector<HostTensor> results_;
};

/// Whether both may be results of one computation whose sums are added in two orders: each is off by what its roundings allow.
template <class T>
bool are_near(const HostTensor& a, const HostTensor& b, double roundings, double unit_roundoff) {
  std::vector<double> x(a.view<T>().begin(), a.view<T>().end());
  std::vector<double> y(b.view<T>().begin(), b.view<T>().end());
  for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
    const bool same_special = !std::isfinite(x[i]) && (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])));
    if (same_special) x[i] = y[i] = 0;
  }
  return bench::share_of_allowed_error(x, y, roundings, unit_roundoff) <= 2;
}

class Tuner {
 public:
  Tuner(const spec::Program& program, const TuningOptions& options) : program_(program), options_(options), engine_(options.seed) {
    compile_.device = std::make_shared<compiled::Processor>();
    compile_.threads = options.threads;
    found_.machine = compile_.device->machine();
    draw();
  }

  Tuned run() {
    const auto start = Clock::now();
    first_ = candidate({});
    best_ = first_;
    const double once = first_->sample(1);
    runs_ = std::max<std::size_t>(1, static_cast<std::size_t>(least_sample / std::max(once, 1e-9)));
    refill();
    double said = 0;
    while (seconds_since(start) < options_.seconds && !waiting_.empty()) {
      if (const double now = seconds_since(start); now - said >= seconds_between_words) {
        said = now;
        say(fmt::format("{} tried, {} refused, {} waiting, {:.0f} s left", found_.tried, found_.refused, waiting_.size(), options_.seconds - now));
      }
      const DecisionLine next = waiting_.back();
      waiting_.pop_back();
      consider(next);
    }
    finish();
    if (options_.conform) conform();
    return std::move(found_);
  }

 private:
  void draw() {
    values_.clear();
    for (const spec::Input& input : program_.inputs) values_.push_back(input.value ? *input.value : drawn(input, engine_));
  }

  std::shared_ptr<Candidate> candidate(const std::vector<DecisionLine>& decisions) {
    compile_.decisions = decisions;
    return std::make_shared<Candidate>(program_, compile_, values_);
  }

  /// All that may be changed next, in no order; what was tried beside the same decisions is not tried again.
  void refill() {
    waiting_.clear();
    const std::vector<DecisionLine>& all = best_->executable().report().decisions;
    for (const DecisionLine& line : all) {
      for (DecisionLine& n : compiled::neighbours(line, found_.machine, all, options_.reorder_sums)) waiting_.push_back(std::move(n));
    }
    std::shuffle(waiting_.begin(), waiting_.end(), engine_);
  }

  void consider(const DecisionLine& line) {
    const std::vector<DecisionLine> decisions = compiled::with_decision(decisions_, line);
    if (!seen_.insert(compiled::to_text(decisions)).second) return;
    std::shared_ptr<Candidate> next;
    try {
      next = candidate(decisions);
    } catch (const SpecViolation&) {
      ++found_.refused;
      return;
    }
    ++found_.tried;
    if (!agrees(*next)) {
      ++found_.other;
      say(fmt::format("{}: other results, left out", to_text(line)));
      return;
    }
    // A few rounds leave out what is slower; what seems faster must be so in many.
    if (!(ratio(*best_, *next, 3) < 1)) return;
    const double gain = 1 - ratio(*best_, *next, 21);
    if (!(gain > least_gain)) return;
    say(fmt::format("{}: {:.1f} % faster", to_text(line), 100 * gain));
    best_ = next;
    decisions_ = decisions;
    refill();
  }

  bool agrees(const Candidate& next) const {
    const std::vector<HostTensor>& a = first_->results();
    const std::vector<HostTensor>& b = next.results();
    if (a == b) return true;
    if (!options_.reorder_sums) return false;
    const std::vector<double> roundings = bench::longest_chains(next.executable().system());
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      // Outputs of the system are the program's, those that are captured, then the values of updates.
      const double n = i < program_.outputs.size() ? roundings.at(i) : roundings.at(roundings.size() - (a.size() - i));
      if (a[i].dtype == DType::f32 && are_near<float>(a[i], b[i], n, 0x1p-24)) continue;
      if (a[i].dtype == DType::f64 && are_near<double>(a[i], b[i], n, 0x1p-53)) continue;
      return false;
    }
    return true;
  }

  /// The second one's time over the first one's, sampled in turn: of medians or of the best samples, whichever is more.
  double ratio(Candidate& one, Candidate& two, std::size_t rounds) {
    std::vector<double> a;
    std::vector<double> b;
    for (std::size_t r = 0; r < rounds; ++r) {
      for (const std::size_t who : bench::order_of_round(2, r)) (who == 0 ? a : b).push_back((who == 0 ? one : two).sample(runs_));
    }
    const bench::Summary first = bench::summary_of(a);
    const bench::Summary second = bench::summary_of(b);
    found_.before = first.median;
    found_.after = second.median;
    return std::max(second.median / first.median, second.best / first.best);
  }

  /// The gains of single steps may have been luck; what counts is the whole beside the beginning, on other inputs.
  void finish() {
    if (decisions_.empty()) return;
    draw();
    first_ = candidate({});
    best_ = candidate(decisions_);
    if (!agrees(*best_)) ++found_.other;
    else if (ratio(*first_, *best_, 31) < 1 - least_gain / 2) found_.decisions = decisions_;
  }

  /// Outputs and new values of parameters, as the definitions have them.
  void conform() {
    say("holding the results to the definitions");
    const std::vector<HostTensor> results = candidate(found_.decisions)->results();
    const std::vector<spec::Update> updates = spec::all_updates(program_);
    spec::Request request;
    request.program = program_;
    request.inputs = values_;
    spec::Numbers numbers;
    std::vector<std::string>& names = request.program.outputs;
    numbers.outputs.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(names.size()));
    for (std::size_t u = 0; u < updates.size(); ++u) {
      if (std::find(names.begin(), names.end(), updates[u].value) != names.end()) continue;
      names.push_back(updates[u].value);
      numbers.outputs.push_back(results[results.size() - updates.size() + u]);
    }
    found_.outcome = conformance::judge(request, numbers, spec::contract_named("cpu"));
    if (found_.outcome->verdict == conformance::Verdict::fail) found_.decisions.clear();
  }

  void say(const std::string& line) const {
    if (options_.progress) options_.progress(line);
  }

  const spec::Program& program_;
  const TuningOptions& options_;
  std::mt19937_64 engine_;
  compiled::CompileOptions compile_;
  std::vector<HostTensor> values_;
  std::shared_ptr<Candidate> first_;
  std::shared_ptr<Candidate> best_;
  std::vector<DecisionLine> decisions_;  ///< of the best
  std::vector<DecisionLine> waiting_;
  std::set<std::string> seen_;
  std::size_t runs_ = 1;
  Tuned found_;
};

}  // namespace

Tuned tune(const spec::Program& program, const TuningOptions& options) { return Tuner(program, options).run(); }

}  // namespace etalon::command

#endif
