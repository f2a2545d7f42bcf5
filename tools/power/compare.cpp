#include "tools/power/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "compiled/runtime/backend.hpp"
#include "conformance/admit_schemas.hpp"
#include "conformance/case.hpp"
#include "conformance/filled_seeds.hpp"
#include "conformance/judge.hpp"
#include "conformance/plan.hpp"
#include "conformance/question.hpp"
#include "conformance/schemas.hpp"
#include "conformance/values.hpp"
#include "reference/bounds/envelope.hpp"
#include "tests/mutants/backend.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"
#include "tests/mutants/score.hpp"
#include "tests/simulator/simulator.hpp"
#include "tools/power/form.hpp"

namespace etalon::power {
namespace {

using conformance::Case;
using conformance::Check;
using Clock = std::chrono::steady_clock;
using Flags = std::array<bool, judge_count>;
using Tensors = std::vector<HostTensor>;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A case with what every judge needs: the bounds and the correctly rounded reference.
class Exam {
 public:
  Exam(const Case& c, const spec::Contract& contract)
      : case_(c),
        contract_(contract),
        request_(conformance::request_of(c)),
        question_(conformance::question_of(request_)) {
    const auto start = Clock::now();
    bounds_ = reference::envelopes(question_.system, question_.inputs, contract);
    seconds_ = seconds_since(start);
    values_ = request_.program.outputs.size();
    freedoms_ = conformance::where_undifferentiable(question_.system, question_.inputs, conformance::layout_of(request_),
                                                    bounds_, contract);
    conformance::mark_filled_seeds(freedoms_, request_, contract);
    open_ = bounds_;
    conformance::admit(open_, freedoms_);
  }

  [[nodiscard]] const spec::Request& request() const { return request_; }
  [[nodiscard]] const conformance::Question& question() const { return question_; }
  [[nodiscard]] double seconds() const { return seconds_; }

  /// The answer's tensors in the order of the question, or nothing where they are not all there.
  [[nodiscard]] std::optional<Tensors> tensors(const spec::Answer& answer) const {
    const auto* numbers = std::get_if<spec::Numbers>(&answer);
    if (numbers == nullptr) return std::nullopt;
    Tensors all = numbers->outputs;
    for (const auto* list : {&numbers->tangents, &numbers->cotangents}) {
      for (const auto& t : *list) {
        if (t) all.push_back(*t);
      }
    }
    if (all.size() != bounds_.outputs.size()) return std::nullopt;
    for (std::size_t t = 0; t < all.size(); ++t) {
      if (all[t].dims != bounds_.outputs[t].dims || all[t].dtype != bounds_.outputs[t].dtype) return std::nullopt;
    }
    return all;
  }

  [[nodiscard]] reference::Verdict bounded(const Tensors& got) const {
    reference::Verdict verdict = reference::judge(got, bounds_);
    if (verdict.passed()) return verdict;
    reference::Envelopes widened = bounds_;
    conformance::admit_schemas(widened, got, conformance::other_schemas(case_, case_.mode), freedoms_, contract_);
    return reference::judge(got, widened);
  }

  /// Who flags the answer; all do where tensors are missing or of another type.
  [[nodiscard]] Flags flags(const std::optional<Tensors>& got) const {
    Flags flagged{};
    if (!got) {
      flagged.fill(true);
      return flagged;
    }
    flagged[0] = !bounded(*got).passed();
    for (std::size_t t = 0; t < got->size(); ++t) compare_tensor((*got)[t], open_.outputs[t], t >= values_, flagged);
    return flagged;
  }

 private:
  // The reference as a framework's test would have it: rounded to the type. Nothing where the bounds say nothing.
  static std::optional<double> expected(const reference::Envelope& e, std::size_t i) {
    const std::uint8_t flags = e.flags[i];
    // Where the contract leaves open whether a number, an infinity or NaN comes out, no one value is right.
    if (flags == reference::admits_finite)
      return e.dtype == DType::f32 ? static_cast<double>(static_cast<float>(e.reference[i])) : e.reference[i];
    if (flags == reference::admits_positive_infinity) return std::numeric_limits<double>::infinity();
    if (flags == reference::admits_negative_infinity) return -std::numeric_limits<double>::infinity();
    if (flags == reference::admits_nan) return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }

  static void compare_tensor(const HostTensor& got, const reference::Envelope& e, bool derivative, Flags& flagged) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) {
      const double value = conformance::element(got, i);
      if (kind_of(got.dtype) != Kind::real) {
        for (std::size_t r = 0; r < rule_count; ++r)
          flagged[r + 1] |= i < e.exact.size() && value != static_cast<double>(e.exact[i]);
        continue;
      }
      const auto right = expected(e, i);
      if (!right) continue;
      for (std::size_t r = 0; r < rule_count; ++r)
        flagged[r + 1] |= !rules()[r].accepts(value, *right, got.dtype, derivative);
    }
  }

  const Case& case_;
  const spec::Contract& contract_;
  spec::Request request_;
  conformance::Question question_;
  reference::Envelopes bounds_, open_;  ///< open_: with what is free where there is no derivative
  conformance::Freedoms freedoms_;
  std::size_t values_ = 0;
  double seconds_ = 0;
};

void add(Tally& tally, const Flags& flags) {
  ++tally.cases;
  for (std::size_t j = 0; j < judge_count; ++j) tally.flagged[j] += flags[j] ? 1 : 0;
}

void add(Tally& to, const Tally& from) {
  to.cases += from.cases;
  for (std::size_t j = 0; j < judge_count; ++j) to.flagged[j] += from.flagged[j];
}

struct Asked {
  std::size_t index = 0;  ///< in the list of mutants
  std::unique_ptr<mutants::Mutated> backend;
};

// One operation's share of the comparison.
class Share {
 public:
  Share(const std::string& operation, const CompareOptions& options) : operation_(operation), options_(options) {
    const auto list = mutants::mutants();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto names = mutants::known_operations(list[i].operations);
      if (std::find(names.begin(), names.end(), operation) != names.end()) asked_.push_back({i, make_mutant(list[i])});
    }
    result_.mutants.resize(list.size());
    sound_ = compiled::make_cpu_backend();
    contract_ = sound_->describe().contract;
  }

  Comparison run() {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const Check check : {Check::value, Check::jvp, Check::vjp, Check::special}) {
        const std::size_t cases = check == Check::special ? std::min<std::size_t>(options_.cases, 6) : options_.cases;
        for (std::size_t i = 0; i < cases; ++i) {
          const auto c = conformance::make_case({operation_, check, dtype, i, options_.seed});
          if (c) examine(*c);
        }
      }
    }
    return std::move(result_);
  }

 private:
  void examine(const Case& c) {
    const Exam exam(c, contract_);
    const auto start = Clock::now();
    const auto got = exam.tensors(sound_->run(exam.request()));
    const double backend_seconds = seconds_since(start);
    const Flags sound = exam.flags(got);
    add(result_.backend, sound);
    if (sound[0]) result_.alarms.push_back(conformance::id_of(c.key));
    if (got) measure(c, exam, *got, backend_seconds);
    Flags alarm = sound;
    if (c.key.check != Check::special) simulate(c, exam, alarm);
    ++examined_;
    for (Asked& mutant : asked_) {
      const bool touched = mutant.backend->touches(exam.request());
      const Flags flags = touched ? exam.flags(exam.tensors(mutant.backend->run(exam.request()))) : sound;
      MutantTally& tally = result_.mutants[mutant.index];
      add(tally.all, flags);
      for (std::size_t j = 0; j < judge_count; ++j) {
        tally.alarms[j] += alarm[j] ? 1 : 0;
        if (!flags[j] || sound[j]) continue;
        ++tally.valid[j];
        if (!tally.first[j]) tally.first[j] = Conviction{examined_, mutants::numbers_given(c)};
      }
    }
  }

  void measure(const Case& c, const Exam& exam, const Tensors& got, double backend_seconds) {
    const reference::Verdict verdict = exam.bounded(got);
    ClassTally& tally = result_.classes[class_of(conformance::instance_of(c).system)];
    ++tally.cases;
    tally.elements += verdict.comparisons + verdict.undecided;
    tally.undecided += verdict.undecided;
    double& worst = c.mode == spec::Mode::forward ? tally.worst_value : tally.worst_derivative;
    if (verdict.passed()) worst = std::max(worst, verdict.worst_ratio);
    tally.bound_seconds += exam.seconds();
    tally.backend_seconds += backend_seconds;
    result_.element_checks += verdict.comparisons;
  }

  void simulate(const Case& c, const Exam& exam, Flags& alarm) {
    for (std::size_t r = 0; r < options_.runs; ++r) {
      const auto seed = static_cast<unsigned>(conformance::hash_of(conformance::id_of(c.key)) % 100000 * 16 + r);
      const auto& q = exam.question();
      const Tensors got = mutants::is_double(q.system)
                              ? bounds_test::Simulator<double>(q.system, q.inputs, contract_, seed).run()
                              : bounds_test::Simulator<float>(q.system, q.inputs, contract_, seed).run();
      const Flags flags = exam.flags(got);
      add(result_.simulator, flags);
      for (std::size_t j = 0; j < judge_count; ++j) alarm[j] |= flags[j];
      if (flags[0]) result_.alarms.push_back(fmt::format("{} simulated with seed {}", conformance::id_of(c.key), seed));
    }
  }

  std::string operation_;
  const CompareOptions& options_;
  std::vector<Asked> asked_;
  std::unique_ptr<spec::Backend> sound_;
  spec::Contract contract_;
  std::size_t examined_ = 0;
  Comparison result_;
};

void merge(Comparison& to, const Comparison& from) {
  add(to.backend, from.backend);
  add(to.simulator, from.simulator);
  to.element_checks += from.element_checks;
  for (std::size_t i = 0; i < from.mutants.size(); ++i) {
    add(to.mutants[i].all, from.mutants[i].all);
    for (std::size_t j = 0; j < judge_count; ++j) {
      to.mutants[i].valid[j] += from.mutants[i].valid[j];
      to.mutants[i].alarms[j] += from.mutants[i].alarms[j];
      const auto& first = from.mutants[i].first[j];
      auto& soonest = to.mutants[i].first[j];
      if (first && (!soonest || std::pair(first->asked, first->numbers) < std::pair(soonest->asked, soonest->numbers))) soonest = first;
    }
  }
  const std::string* largest = nullptr;
  std::size_t most = 0;
  for (const auto& [name, c] : from.classes) {
    ClassTally& t = to.classes[name];
    t.cases += c.cases;
    t.elements += c.elements;
    t.undecided += c.undecided;
    t.worst_value = std::max(t.worst_value, c.worst_value);
    t.worst_derivative = std::max(t.worst_derivative, c.worst_derivative);
    t.bound_seconds += c.bound_seconds;
    t.backend_seconds += c.backend_seconds;
    if (c.cases > most) largest = &name, most = c.cases;
  }
  if (largest != nullptr) ++to.classes[*largest].operations;
  to.alarms.insert(to.alarms.end(), from.alarms.begin(), from.alarms.end());
}

}  // namespace

std::string_view judge_name(std::size_t judge) { return judge == 0 ? "Etalon" : rules()[judge - 1].name; }

Comparison compare(const CompareOptions& options) {
  Comparison total;
  const auto list = mutants::mutants();
  total.mutants.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) total.mutants[i].name = list[i].name;
  std::vector<std::string> operations = options.operations;
  for (const spec::Definition* d : spec::Library().definitions()) {
    if (options.operations.empty()) operations.emplace_back(d->name);
  }
  std::atomic<std::size_t> next = 0;
  std::mutex merging;
  const auto work = [&] {
    for (std::size_t i = next++; i < operations.size(); i = next++) {
      const Comparison part = Share(operations[i], options).run();
      const std::lock_guard lock(merging);
      merge(total, part);
      fmt::print(stderr, "\r{}/{} {:40}", i + 1, operations.size(), operations[i]);
    }
  };
  {
    std::vector<std::jthread> others;
    for (unsigned j = 1; j < options.jobs; ++j) others.emplace_back(work);
    work();
  }
  fmt::print(stderr, "\n");
  std::sort(total.alarms.begin(), total.alarms.end());
  return total;
}

int run_compare(const CompareOptions& options) {
  const Comparison comparison = compare(options);
  const std::string text = markdown_of(comparison, options);
  if (options.markdown.empty())
    fmt::print("{}", text);
  else
    std::ofstream(options.markdown) << text;
  if (!options.json.empty()) std::ofstream(options.json) << json_of(comparison);
  if (!options.plot.empty()) std::ofstream(options.plot) << plot_of(comparison);
  for (const std::string& alarm : comparison.alarms) fmt::print(stderr, "false alarm of the bounds: {}\n", alarm);
  return comparison.alarms.empty() ? 0 : 1;
}

}  // namespace etalon::power
