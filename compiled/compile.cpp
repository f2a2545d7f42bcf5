#include "compiled/compile.hpp"

#include <algorithm>
#include <array>

#include "compiled/emit/code_generator.hpp"
#include "compiled/ir/wishes.hpp"
#include "compiled/lower/bind.hpp"
#include "compiled/lower/copy_factors.hpp"
#include "compiled/lower/fetch_rows.hpp"
#include "compiled/lower/given.hpp"
#include "compiled/lower/lower.hpp"
#include "compiled/lower/merge_rows.hpp"
#include "compiled/lower/stream_results.hpp"
#include "compiled/memory/budget.hpp"
#include "compiled/memory/homes.hpp"
#include "compiled/rewrite/lift.hpp"
#include "compiled/rewrite/passes.hpp"
#include "compiled/rewrite/passing.hpp"
#include "compiled/rewrite/recompute.hpp"
#include "compiled/rewrite/split.hpp"
#include "compiled/schedule/fuse.hpp"
#include "compiled/schedule/strips.hpp"
#include "compiled/schedule/turns.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::compiled {

namespace {

using C = Compilation;
using Options = CompileOptions;

/// What is asked to be stored is, while equations are rewritten, an output behind the others: stages leave outputs alone.
void hold_stored(C& c) {
  std::vector<bool> there(c.system.tensors.size());
  for (const auto* list : {&c.system.inputs, &c.system.outputs}) {
    for (const spec::TensorId t : *list) there[static_cast<std::size_t>(t)] = true;
  }
  const std::vector<bool> stored = tensors_asked(c.system, spec::Asked::stored);
  for (std::size_t t = 0; t < stored.size(); ++t) {
    if (stored[t] && !there[t]) c.system.outputs.push_back(static_cast<spec::TensorId>(t));
  }
}

void let_go_of_stored(C& c) { c.system.outputs.resize(c.outputs); }

template <void (*rewrite)(spec::System&)>
void on_equations(C& c) {
  rewrite(c.system);
}

void split(C& c) { split_products(c.system, c.machine, c.options.schedule); }

void lay_parameters_out(C& c) {
  const ScheduleOptions& schedule = c.options.schedule;
  const Kept& kept = c.kept;
  if (kept.inputs.empty()) return;
  if (!kept.given && (is_off(c.options, "contractions") || !schedule.keep)) {
    c.layouts.kept.resize(kept.inputs.size());
    return;
  }
  c.layouts = kept.given ? follow_layouts(c.system, kept.inputs, *kept.given) : choose_layouts(c.system, c.machine, schedule, kept.inputs, c.deciding);
  take_layouts(c.deciding, c.system, kept.inputs, c.layouts);
  lay_out(c.system, c.layouts.tensors);
}

std::string print_layouts(const C& c) { return to_text(c.system, c.kept.inputs, c.layouts) + spec::to_text(c.system); }

void lift(C& c) { lift_sums(c.system, c.machine, c.options.schedule, c.deciding); }

void find_strips(C& c) { c.strips = form_strips(c.system, c.machine, c.options.schedule, c.deciding); }

void schedule(C& c) { c.decisions = schedule_contractions(c.system, c.machine, c.options.schedule, c.strips, c.deciding); }

void copy_pieces(C& c) { copy_in_turns(c.system, c.decisions, c.deciding); }

void form_kernels(C& c) {
  c.plan = {};
  c.plan.kernels = fuse(c.system, c.options.plan, c.decisions);
}

void place_values(C& c) { assign_homes(c.system, c.options.plan, c.plan); }

/// What was decided by looking at a plan changes equations: these are planned anew.
template <bool (*rewrite)(spec::System&, const Plan&, std::vector<Decision>&, Deciding&)>
void by_plan(C& c) {
  if (rewrite(c.system, c.plan, c.decisions, c.deciding)) c.plan = compiled::plan(c.system, c.options.plan, c.decisions);
}

/// Kernels that are given stand last: what is decided by looking at a plan is decided by looking at the cost model's.
void settle(C& c) {
  if (c.deciding.gives("join")) c.plan = compiled::plan(c.system, c.options.plan, c.decisions, &c.deciding);
  take_kernels(c.deciding, c.system, c.plan.kernels);
}

void keep_within_budget(C& c) {
  const PlanOptions& options = c.options.plan;
  if (!options.memory_budget || c.plan.arena_bytes <= *options.memory_budget) return;
  loops::pin_lanes(c.system, c.plan, c.machine);
  fit_budget(c.system, options, c.plan);
}

void explain(C& c) {
  if (!c.history) return;
  c.values = c.history->reports(c.system, c.plan);
  for (std::size_t i = 0; i < c.layouts.kept.size(); ++i) {
    const std::string& name = c.system[c.system.inputs[c.kept.inputs[i].input]].name;
    const auto value = std::find_if(c.values.begin(), c.values.end(), [&](const ValueReport& v) { return v.name == name; });
    if (value != c.values.end() && c.layouts.kept[i].panels) value->layout = layout_text(c.layouts.kept[i]);
  }
}

std::string print_values(const C& c) { return to_text(c.values); }

void lower_kernels(C& c) { c.nests = loops::lower(c.system, c.plan, c.machine, c.options.schedule, c.deciding); }

void bind_loops(C& c) {
  for (std::size_t k = 0; k < c.nests.size(); ++k) loops::bind(c.system, c.plan, c.machine, k, c.nests[k]);
}

/// Tiles are what their schedules say.
void merge_rows(C& c) {
  for (std::size_t k = 0; k < c.nests.size(); ++k) {
    if (c.plan.kernels[k].kind == KernelKind::loops && !c.plan.kernels[k].schedule) loops::merge_rows(c.system, c.plan, c.nests[k]);
  }
}

void stream(C& c) {
  if (!c.machine.is_grid()) loops::stream_results(c.system, c.plan, c.machine.last_bytes, c.nests, c.deciding);
}
void copy_factors(C& c) {
  if (c.machine.is_grid()) loops::copy_factors(c.system, c.nests, c.deciding);
}
void fetch_rows(C& c) {
  if (!c.machine.is_grid()) loops::fetch_rows(c.system, c.plan, c.machine, c.nests, c.deciding);
}

void see_all_followed(C& c) { c.deciding.check_all_taken(); }

void take_given(C& c) {
  if (c.options.loops) loops::take_given(c.system, *c.options.loops, c.nests);
}

void write_script(C& c) { c.script = script_of(c.system, c.plan, c.nests); }

std::string print_script(const C& c) { return to_text(c.system, c.script); }

void emit(C& c) { c.generator->emit(c.system, c.nests); }
template <void (CodeGenerator::*step)()>
void of_code(C& c) {
  (c.generator->*step)();
}

constexpr std::array layout_choices{
    Choice{"keep", "let parameters lie in the panels in which tiles read them", [](Options& o) { o.schedule.keep = false; }, true},
};
constexpr std::array tile_choices{
    Choice{"windows", "read what slides over an image where it lies", [](Options& o) { o.schedule.windows = false; }, true},
    Choice{"share_loads", "load a row's number once for several steps of a window", [](Options& o) { o.schedule.share_loads = false; }},
    Choice{"pack", "copy factors into the panels or rows in which tiles read them", [](Options& o) { o.schedule.pack = false; }, true},
};
constexpr std::array kernel_choices{
    Choice{"fuse", "let equations share loops", [](Options& o) { o.plan.fuse = false; }, true},
};
constexpr std::array place_choices{
    Choice{"reuse", "let intermediates share memory", [](Options& o) { o.plan.reuse = false; }},
    Choice{"in_place", "write new values of parameters where the old ones lie", [](Options& o) { o.plan.in_place = false; }},
};
constexpr std::array loop_choices{
    Choice{"lanes", "compute elements of a result side by side; sums have lanes in any case", [](Options& o) { o.schedule.lanes = false; }},
};

using enum Level;
constexpr bool always = true;

/// Of the rewrites that keep every bit the second round sees what inlining has brought together.
constexpr std::array list{
    Stage{"hold_stored", "make what is asked to be stored an output, until outputs are settled", hold_stored, equations, always},
    Stage{"remove_dead", "drop equations that no output needs", on_equations<spec::remove_dead>, equations},
    Stage{"solve_guards", "turn equations between indices into substitutions and ranges", on_equations<solve_guards>, equations},
    Stage{"name_reductions", "compute each reduction once, in an equation of its own", on_equations<name_reductions>, equations},
    Stage{"fold_constants", "compute what is constant, where the result is exact", on_equations<fold_constants>, equations},
    Stage{"simplify", "apply the rules that keep every bit", on_equations<simplify>, equations},
    Stage{"share_common", "define equal tensors once", on_equations<share_common>, equations},
    Stage{"inline_asked", "substitute what is asked to be inlined", on_equations<inline_asked>, equations, always},
    Stage{"inline_locals", "substitute views and elementwise locals", on_equations<inline_locals>, equations},
    Stage{"fold_constants", "compute what inlining made constant", on_equations<fold_constants>, equations},
    Stage{"simplify", "apply the rules to what inlining brought together", on_equations<simplify>, equations},
    Stage{"ask_results", "ask what was cut off at zero instead of what it was cut from", on_equations<ask_results>, equations},
    Stage{"remove_dead", "drop what was inlined or shared", on_equations<spec::remove_dead>, equations},
    Stage{"cut_expressions", "give parts of very long expressions equations of their own", on_equations<cut_expressions>, equations},
    Stage{"separate_outputs", "give every output its own tensor that is no input", on_equations<separate_outputs>, equations, always},
    Stage{"let_go_of_stored", "let what is asked to be stored be an intermediate again", let_go_of_stored, equations, always},
    Stage{.name = "split_products", .what = "give each product of a sum of products a sum of its own", .run = split,
          .leaves = equations, .orders_sums = true, .serves = "contractions"},
    Stage{.name = "lay_out", .what = "give tensors in panels the axes of their memory", .run = lay_parameters_out, .leaves = equations,
          .required = true, .choices = layout_choices, .print = print_layouts},
    Stage{.name = "lift", .what = "add up long sums in parts, each over a piece of the factors", .run = lift,
          .leaves = equations, .orders_sums = true, .serves = "contractions"},
    Stage{.name = "strips", .what = "compute values much larger than what they are made of by strips of rows", .run = find_strips,
          .leaves = equations, .orders_sums = true, .serves = "contractions"},
    Stage{.name = "contractions", .what = "run sums of products in tiles that are held in registers", .run = schedule,
          .leaves = equations, .orders_sums = true, .choices = tile_choices},
    Stage{.name = "pieces", .what = "copy a factor piece by piece, in the turns of the loop that reads it", .run = copy_pieces,
          .leaves = equations, .orders_sums = true, .serves = "contractions"},
    Stage{.name = "kernels", .what = "put equations into kernels, in an order that can run", .run = form_kernels, .leaves = plan,
          .required = true, .choices = kernel_choices},
    Stage{.name = "places", .what = "give every value its memory", .run = place_values, .leaves = plan, .required = true, .choices = place_choices},
    Stage{.name = "passing", .what = "add up sums over rows while another kernel visits the rows", .run = by_plan<add_in_passing>,
          .leaves = plan, .orders_sums = true, .serves = "fuse"},
    Stage{.name = "recompute", .what = "compute cheap values again instead of storing them", .run = by_plan<recompute_cheap>,
          .leaves = plan, .orders_sums = true, .serves = "fuse"},
    Stage{.name = "settle", .what = "put equations into the kernels that are given", .run = settle, .leaves = plan, .required = true},
    Stage{.name = "budget", .what = "compute values again until intermediates fit the memory budget", .run = keep_within_budget, .leaves = plan},
    Stage{.name = "values", .what = "say what became of each value, and why", .run = explain, .leaves = plan, .required = true, .print = print_values},
    Stage{.name = "lower", .what = "make loops of each kernel: their order, lanes, and where each reduction stands", .run = lower_kernels,
          .leaves = loops, .required = true, .choices = loop_choices},
    Stage{"bind", "share turns among cores or the threads of a grid, and write short loops out", bind_loops, loops},
    Stage{"merge_rows", "let loops over the same row run as one", merge_rows, loops},
    Stage{"stream", "store large results past the caches", stream, loops},
    Stage{"copies", "copy pieces of a tile's factors to memory that a block shares while others are multiplied", copy_factors, loops},
    Stage{"fetch_rows", "ask for the next row of a tensor early", fetch_rows, loops},
    Stage{"followed", "see that each decision that is given was followed", see_all_followed, loops, always},
    Stage{"by_hand", "take kernels that are given as text in place of those that were lowered", take_given, loops, always},
    Stage{.name = "script", .what = "say what the host does: kernels, zeros and copies, and what waits for what", .run = write_script,
          .leaves = loops, .required = true, .print = print_script},
    Stage{"emit", "write each kernel as a function, kernels that are alike once", emit, llvm, always},
    Stage{"merge_functions", "let functions whose code is equal be one", of_code<&CodeGenerator::merge>, llvm, always},
    Stage{"look_up", "take machine code from the cache, where it was kept", of_code<&CodeGenerator::look_up>, llvm, always},
    Stage{"simplify_code", "keep variables in registers, share what is computed twice, move it out of loops", of_code<&CodeGenerator::simplify>, llvm, always},
    Stage{"generate", "make machine code", of_code<&CodeGenerator::generate>, assembly, always},
    Stage{"link", "give functions their addresses", of_code<&CodeGenerator::link>, assembly, always},
};

}  // namespace

std::span<const Stage> stages() { return list; }

}  // namespace etalon::compiled
