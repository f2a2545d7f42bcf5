// How stages run: what is left out, what is checked and what is printed after each.
#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/emit/code_generator.hpp"
#include "compiled/ir/listing.hpp"
#include "compiled/ir/wishes.hpp"
#include "compiled/memory/check_plan.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::compiled {

namespace {

using C = Compilation;
using Options = CompileOptions;
using enum Level;

bool has_strips(const C& c) {
  return std::any_of(c.strips.begin(), c.strips.end(), [](const std::optional<Strip>& strip) { return strip.has_value(); });
}

void verify(const C& c, Level level) {
  switch (level) {
    case equations:
      // Between rows of a strip there may be room that nobody writes; the check of the plan executes what reads them.
      if (!has_strips(c)) spec::verify(c.system);
      return;
    case plan:
      // Kernels are checked once their values have places.
      if (!c.plan.residences.empty()) check_plan(c.system, c.plan, c.options.plan);
      return;
    case loops:
      for (const loops::Nest& nest : c.nests) loops::verify(c.system, nest);
      if (c.options.verify) verify(c.system, c.script);
      return;
    case llvm: return c.generator->verify();
    case assembly: return;
  }
}

std::string print(const C& c, Level level) {
  switch (level) {
    case equations: return spec::to_text(c.system);
    case plan: return to_text(c.system, c.plan);
    case llvm: return c.generator->text();
    case assembly: return c.generator->assembly();
    case loops: break;
  }
  return loops::Listing(c.system, c.nests).text();
}

struct Named {
  std::string_view name;
  bool required = false;
};

/// All that can be left out, or might be.
std::vector<Named> switches() {
  std::vector<Named> all;
  for (const Stage& stage : stages()) {
    all.push_back({stage.name, stage.required});
    for (const Choice& choice : stage.choices) all.push_back({choice.name});
  }
  return all;
}

void check_names(const std::set<std::string>& names, std::string_view option, std::vector<std::string> known) {
  known.emplace_back("all");
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation(std::string(option) + ": " + unknown_name("stage", name, known));
  }
}

void check(const Options& options) {
  std::vector<std::string> known;
  for (const Named& each : switches()) {
    known.emplace_back(each.name);
    if (!each.required || !options.off.contains(known.back())) continue;
    throw SpecViolation("off: stage '" + known.back() + "' cannot be switched off: later stages rely on it");
  }
  check_names(options.off, "off", known);
  std::vector<std::string> printed;
  for (const Stage& stage : stages()) printed.emplace_back(stage.name);
  for (std::size_t level = 0; level < levels; ++level) printed.emplace_back(name_of(static_cast<Level>(level)));
  check_names(options.dump_after, "dump-after", printed);
}

bool runs(const C& c, const Stage& stage) {
  if (stage.leaves >= llvm && c.generator == nullptr) return false;
  if (stage.required) return true;
  return !is_off(c.options, stage.name) && (stage.serves.empty() || !is_off(c.options, stage.serves));
}

/// What loops touch is memory: they are checked in any case, once they are what they stay.
void check_after(const C& c, const Stage& stage, bool is_last) {
  const bool each = c.options.verify || !c.options.decisions.empty();
  if (each ? !runs(c, stage) : !is_last || stage.leaves != loops) return;
  try {
    verify(c, stage.leaves);
  } catch (const std::exception& e) {
    throw InternalError("stage " + std::string(stage.name) + " left something ill-formed: " + e.what());
  }
}

bool wants(const Options& options, std::string_view name) { return options.dump && options.dump_after.contains(std::string(name)); }

void after(C& c, const Stage& stage, bool is_last) {
  const Options& options = c.options;
  if (runs(c, stage) && options.dump && (options.dump_after.contains("all") || wants(options, stage.name))) {
    options.dump(stage.name, stage.print != nullptr ? stage.print(c) : print(c, stage.leaves));
  }
  const bool exists = stage.leaves < llvm || c.generator != nullptr;
  if (is_last && exists && wants(options, name_of(stage.leaves))) options.dump(name_of(stage.leaves), print(c, stage.leaves));
}

void run(C& c, const Stage& stage) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  stage.run(c);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  c.seconds.emplace_back(stage.name, seconds);
  c.spent[static_cast<std::size_t>(stage.leaves)] += seconds;
  if (stage.leaves == equations) {
    if (c.history) c.history->after(stage.name, c.system);
    if (c.options.interpose) c.options.interpose(stage.name, c.system);
  }
}

Machine with_caches(Machine machine, const ScheduleOptions& options) {
  machine.near_bytes = options.near_cache_bytes.value_or(machine.near_bytes);
  machine.middle_bytes = options.middle_cache_bytes.value_or(machine.middle_bytes);
  machine.last_bytes = options.last_cache_bytes.value_or(machine.last_bytes);
  return machine;
}

}  // namespace

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, levels> names{"equations", "plan", "loops", "llvm", "asm"};
  return names[static_cast<std::size_t>(level)];
}

bool is_off(const CompileOptions& options, std::string_view name) {
  return options.off.contains("all") || options.off.contains(std::string(name));
}

Compilation begin(spec::System system, const CompileOptions& options, const Machine& machine,
                  const std::vector<PlanOptions::Update>& updates, const Kept& kept) {
  check(options);
  check_wishes(system);
  Compilation c{.system = std::move(system), .options = options, .machine = with_caches(machine, options.schedule), .kept = kept};
  c.outputs = c.system.outputs.size();
  c.options.plan.updates = updates;
  c.deciding = Deciding(options.decisions);
  c.options.plan.threads = std::max(1U, options.threads);
  if (c.machine.is_grid()) {
    // Panels are for vectors.
    c.options.schedule.keep = false;
    c.options.plan.scratch = false;
    c.options.plan.stack_bytes = static_cast<std::size_t>(c.machine.shared_bytes);
  }
  for (const Stage& stage : stages()) {
    for (const Choice& choice : stage.choices) {
      if (is_off(options, choice.name)) choice.leave_out(c.options);
    }
  }
  if (options.explain || options.dump) c.history.emplace(c.system);
  return c;
}

void run(Compilation& c, Level level) {
  const std::span<const Stage> all = stages();
  for (; c.next < all.size() && all[c.next].leaves <= level; ++c.next) {
    const Stage& stage = all[c.next];
    const bool is_last = c.next + 1 == all.size() || all[c.next + 1].leaves != stage.leaves;
    if (runs(c, stage)) run(c, stage);
    check_after(c, stage, is_last);
    after(c, stage, is_last);
  }
}

Compilation lower_to_loops(spec::System system, const std::vector<PlanOptions::Update>& updates, const CompileOptions& options,
                           const Machine& machine, const Kept& kept) {
  Compilation c = begin(std::move(system), options, machine, updates, kept);
  run(c, Level::loops);
  return c;
}

}  // namespace etalon::compiled
