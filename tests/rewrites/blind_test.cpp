// Mutants of every rewrite, each of which takes all reals for f32: the rewrite itself, run on a system whose types are hidden from it.
// Where a rewrite asks for types the mutant is convicted; where it asks for none the mutant is the rewrite.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

#include "compiled/memory/check_plan.hpp"
#include "compiled/memory/budget.hpp"
#include "compiled/rewrite/lift.hpp"
#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/passing.hpp"
#include "compiled/rewrite/recompute.hpp"
#include "compiled/rewrite/split.hpp"
#include "compiled/schedule/kept.hpp"
#include "compiled/schedule/strips.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/rewrites/directed_systems.hpp"
#include "tests/rewrites/drawn_systems.hpp"
#include "tests/rewrites/rewriting.hpp"

namespace etalon::test {
namespace {

using compiled::Deciding;
using compiled::Decision;
using compiled::Machine;
using compiled::Plan;
using compiled::PlanOptions;
using compiled::ScheduleOptions;
using spec::System;

/// The rewrite that is blind at the moment.
std::string& blind() {
  static std::string name;
  return name;
}

/// Hides the types of a system while it lives.
class Blindfold {
 public:
  Blindfold(System& system, const std::string& rewrite) : system_(system) {
    if (rewrite != blind()) return;
    for (spec::TensorInfo& t : system.tensors) {
      types_.push_back(t.dtype);
      if (kind_of(t.dtype) == Kind::real) t.dtype = DType::f32;
    }
  }
  Blindfold(const Blindfold&) = delete;
  Blindfold& operator=(const Blindfold&) = delete;
  ~Blindfold() {
    for (std::size_t t = 0; t < types_.size(); ++t) system_.tensors[t].dtype = types_[t];
  }

 private:
  System& system_;
  std::vector<DType> types_;
};

}  // namespace

// The linker calls these instead (--wrap, tests/CMakeLists.txt), and the rewrites themselves by their other name.
#define ETALON_PASS(name, symbol)                                                \
  void real_##name(System& system) asm("__real_" symbol);                        \
  void wrapped_##name(System& system) asm("__wrap_" symbol);                     \
  void wrapped_##name(System& system) {                                          \
    const Blindfold hidden(system, #name);                                       \
    real_##name(system);                                                         \
  }

#define ETALON_SCHEDULING(result, function, name, symbol)                                                             \
  result real_##function(System& system, const Machine& machine, const ScheduleOptions& options) asm("__real_" symbol);    \
  result wrapped_##function(System& system, const Machine& machine, const ScheduleOptions& options) asm("__wrap_" symbol); \
  result wrapped_##function(System& system, const Machine& machine, const ScheduleOptions& options) {                 \
    const Blindfold hidden(system, name);                                                                             \
    return real_##function(system, machine, options);                                                                 \
  }

#define ETALON_DECIDING(result, function, name, symbol)                                                             \
  result real_##function(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) asm("__real_" symbol);    \
  result wrapped_##function(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) asm("__wrap_" symbol); \
  result wrapped_##function(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) {                 \
    const Blindfold hidden(system, name);                                                                             \
    return real_##function(system, machine, options, deciding);                                                                 \
  }

#define ETALON_REPLANNING(function, name, symbol)                                                               \
  bool real_##function(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding) asm("__real_" symbol);    \
  bool wrapped_##function(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding) asm("__wrap_" symbol); \
  bool wrapped_##function(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding) {                 \
    const Blindfold hidden(system, name);                                                                                           \
    return real_##function(system, plan, decisions, deciding);                                                                      \
  }

ETALON_PASS(remove_dead, "_ZN6etalon4spec11remove_deadERNS0_6SystemE")
ETALON_PASS(solve_guards, "_ZN6etalon8compiled12solve_guardsERNS_4spec6SystemE")
ETALON_PASS(name_reductions, "_ZN6etalon8compiled15name_reductionsERNS_4spec6SystemE")
ETALON_PASS(fold_constants, "_ZN6etalon8compiled14fold_constantsERNS_4spec6SystemE")
ETALON_PASS(simplify, "_ZN6etalon8compiled8simplifyERNS_4spec6SystemE")
ETALON_PASS(share_common, "_ZN6etalon8compiled12share_commonERNS_4spec6SystemE")
ETALON_PASS(inline_locals, "_ZN6etalon8compiled13inline_localsERNS_4spec6SystemE")
ETALON_PASS(ask_results, "_ZN6etalon8compiled11ask_resultsERNS_4spec6SystemE")
ETALON_PASS(cut_expressions, "_ZN6etalon8compiled15cut_expressionsERNS_4spec6SystemE")
ETALON_SCHEDULING(void, split_products, "split_products", "_ZN6etalon8compiled14split_productsERNS_4spec6SystemERKNS0_7MachineERKNS0_15ScheduleOptionsE")
ETALON_DECIDING(void, lift_sums, "lift", "_ZN6etalon8compiled9lift_sumsERNS_4spec6SystemERKNS0_7MachineERKNS0_15ScheduleOptionsERNS0_8DecidingE")
ETALON_DECIDING(std::vector<std::optional<compiled::Strip>>, form_strips, "strips", "_ZN6etalon8compiled11form_stripsERNS_4spec6SystemERKNS0_7MachineERKNS0_15ScheduleOptionsERNS0_8DecidingE")
ETALON_REPLANNING(add_in_passing, "passing", "_ZN6etalon8compiled14add_in_passingERNS_4spec6SystemERKNS0_4PlanERSt6vectorINS0_8DecisionESaIS8_EERNS0_8DecidingE")
ETALON_REPLANNING(recompute_cheap, "recompute", "_ZN6etalon8compiled15recompute_cheapERNS_4spec6SystemERKNS0_4PlanERSt6vectorINS0_8DecisionESaIS8_EERNS0_8DecidingE")

using Strips = std::span<const std::optional<compiled::Strip>>;
#define ETALON_CONTRACTIONS "_ZN6etalon8compiled21schedule_contractionsERNS_4spec6SystemERKNS0_7MachineERKNS0_15ScheduleOptionsESt4spanIKSt8optionalINS0_5StripEELm18446744073709551615EERNS0_8DecidingE"
std::vector<Decision> real_contractions(System& system, const Machine& machine, const ScheduleOptions& options, Strips strips, Deciding& deciding) asm("__real_" ETALON_CONTRACTIONS);
std::vector<Decision> wrapped_contractions(System& system, const Machine& machine, const ScheduleOptions& options, Strips strips, Deciding& deciding) asm("__wrap_" ETALON_CONTRACTIONS);
std::vector<Decision> wrapped_contractions(System& system, const Machine& machine, const ScheduleOptions& options, Strips strips, Deciding& deciding) {
  const Blindfold hidden(system, "pack");
  return real_contractions(system, machine, options, strips, deciding);
}
#undef ETALON_CONTRACTIONS

void real_fit_budget(System& system, const PlanOptions& options, Plan& plan) asm("__real__ZN6etalon8compiled10fit_budgetERNS_4spec6SystemERKNS0_11PlanOptionsERNS0_4PlanE");
void wrapped_fit_budget(System& system, const PlanOptions& options, Plan& plan) asm("__wrap__ZN6etalon8compiled10fit_budgetERNS_4spec6SystemERKNS0_11PlanOptionsERNS0_4PlanE");
void wrapped_fit_budget(System& system, const PlanOptions& options, Plan& plan) {
  const Blindfold hidden(system, "budget");
  real_fit_budget(system, options, plan);
}

#undef ETALON_PASS
#undef ETALON_SCHEDULING
#undef ETALON_DECIDING
#undef ETALON_REPLANNING

namespace {

enum class Verdict : std::uint8_t { same, other_bits, refused };

/// What comes of a system when a rewrite is blind, held against the system without the rewrite.
Verdict judged(const System& system, const std::vector<HostTensor>& inputs, const std::string& rewrite, const compiled::CompileOptions& options) {
  blind() = rewrite;
  Verdict verdict = Verdict::same;
  try {
    // The mutant may write beyond its memory: it runs only where its plan is sound.
    const compiled::Compilation mutant = lowered(system, options);
    compiled::check_plan(mutant.system, mutant.plan, options.plan);
    const std::vector<HostTensor> outputs = outputs_of(system, options, inputs);
    blind().clear();
    if (!same_bits(outputs, outputs_of(system, without(options, rewrite), inputs))) verdict = Verdict::other_bits;
  } catch (const InternalError&) {
    verdict = Verdict::refused;
  }
  blind().clear();
  return verdict;
}

}  // namespace

namespace {

using Verdicts = std::map<Verdict, int>;

bool convicted(const Verdicts& verdicts) {
  const auto count = [&](Verdict v) { return verdicts.contains(v) ? verdicts.at(v) : 0; };
  return count(Verdict::other_bits) + count(Verdict::refused) > 0;
}

/// On drawn systems, until one convicts.
Verdicts on_drawn(const std::string& rewrite, std::uint32_t systems) {
  Verdicts verdicts;
  for (std::uint32_t seed = 1; seed <= systems && !convicted(verdicts); ++seed) {
    const System system = drawn_system(seed, Sums::exact);
    compiled::CompileOptions options = eager();
    if (rewrite == "budget") options.plan.memory_budget = lowered(system, options).plan.arena_bytes * 3 / 4;
    try {
      ++verdicts[judged(system, drawn_inputs(system, 5), rewrite, options)];
    } catch (const SpecViolation&) {
      continue;  // the budget is too small for this one
    }
  }
  return verdicts;
}

/// On directed systems, of which those with doubles are strange to a mutant that takes all for f32.
Verdicts on_directed(const std::string& rewrite) {
  Verdicts verdicts;
  if (rewrite == "ask_results") ++verdicts[judged(cut_to_half(), whole_inputs(cut_to_half(), 1), rewrite, eager())];
  compiled::CompileOptions usual;
  usual.device = eager().device;
  for (const Directed& directed : directed_programs()) {
    if (convicted(verdicts)) break;
    if (directed.sums != Sums::exact || directed.text.find("f64") == std::string_view::npos) continue;
    const System system = spec::lower(spec::parse_program(directed.text));
    ++verdicts[judged(system, whole_inputs(system, 1), rewrite, usual)];
  }
  return verdicts;
}

}  // namespace

TEST_CASE("a mutant of each rewrite that ignores types is convicted", "[sound]") {
  for (const char* rewrite : {"name_reductions", "share_common", "inline_locals", "cut_expressions", "split_products", "strips", "pack", "budget"}) {
    INFO(rewrite);
    CHECK(convicted(on_drawn(rewrite, 60)));
  }
  for (const char* rewrite : {"ask_results", "lift", "passing", "recompute"}) {
    INFO(rewrite);
    CHECK(convicted(on_directed(rewrite)));
  }
  // These ask for no type, fold what is exact in every type, or do less where they take all for single precision: no mutants.
  for (const char* rewrite : {"remove_dead", "solve_guards", "fold_constants", "simplify"}) {
    const Verdicts verdicts = on_drawn(rewrite, 12);
    INFO(rewrite);
    CHECK(verdicts == Verdicts{{Verdict::same, 12}});
  }
}

}  // namespace etalon::test
