#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/program/extents.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/cache_folder.hpp"
#include "compiled/compile.hpp"
#include "compiled/emit/llvm/jit.hpp"
#include "compiled/machine/instructions.hpp"
#include "compiled/runtime/processor.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/tuned.hpp"
#include "tools/command/emission.hpp"
#endif

namespace etalon::command {

#ifdef ETALON_HAS_COMPILED

namespace {

constexpr const char* compile_examples = R"(
--list shows every stage, and the choices within it. --dump-after takes stages, and levels as they are in the end: equations, plan,
loops, llvm, asm. --machine prints by which numbers they decide. Forms to emit are program, equations, plan, loops, llvm, asm, c, cuda, ptx,
cubin and resources (docs/emission.md). Examples
  etalon compile step.txt --emit c -o step.c; cc -std=c99 -O2 -ffp-contract=off -c step.c
  etalon compile step.txt --emit ptx --arch compute_90 -o step.ptx
  etalon compile step.txt --emit resources --arch sm_120         registers, shared memory and threads of each kernel on such a GPU
  etalon compile step.txt --debug-dir stages
  etalon compile step.txt --dump-after plan
  etalon compile step.txt --off inline_locals --dump-after simplify --dump-after loops
  etalon compile step.txt --json | jq '.values[] | select(.keeping == "stored")'
  etalon compile step.txt --schedule-out step.schedule           what was decided, to be changed and followed: see docs/schedules.md
  etalon compile step.txt --schedule step.schedule --dump-after loops
  etalon compile step.txt --loops-out step.loops                 its kernels as loops, to be changed by hand and taken with --loops
  etalon compile step.txt --memory-budget 8M --dump-after plan   what is computed again instead of kept, and why
With ETALON_PERF_MAP=1 in the environment every command writes the names of generated functions to /tmp/perf-PID.map,
where the profiler perf finds them: perf record etalon bench --only train-cnn; perf report
With ETALON_DEBUG_DIR=FOLDER every command writes the loops of what it compiles to FOLDER/loops.txt, and gdb shows their
lines: gdb -ex 'set breakpoint pending on' -ex 'break kernel_0' -ex run --args etalon run step.txt --backend cpu
With both, perf shows these lines too: perf record -k mono -o a.data …; perf inject --jit -i a.data -o b.data;
perf report -i b.data --sort symbol,srcline)";

struct CompileChoices {
  std::string path;
  std::string definitions;
  std::vector<std::string> off;
  std::vector<std::string> dump_after;
  bool list = false;
  bool machine = false;
  bool decisions = false;
  bool times = false;
  bool json = false;
  std::string cache;
  std::string memory_budget;
  std::string contract;
  std::string schedule;
  std::string schedule_out;
  std::string loops;
  std::string loops_out;
  std::string emit;
  std::string output;
  std::string architecture;
  std::string debug_dir;
};

void print_stage(std::string_view stage, const std::string& text) {
  std::cout << fmt::format("-- after {}\n{}\n", stage, text);
}

/// In order; what a stage decides by choice stands below it.
void list_stages() {
  std::string_view level;
  for (const compiled::Stage& stage : compiled::stages()) {
    if (level != name_of(stage.leaves)) std::cout << fmt::format("{}{}\n", level.empty() ? "" : "\n", name_of(stage.leaves));
    level = name_of(stage.leaves);
    std::cout << fmt::format("  {:18} {}{}\n", stage.name, stage.what, stage.required ? " (always)" : "");
    for (const compiled::Choice& choice : stage.choices) std::cout << fmt::format("    {:16} {}\n", choice.name, choice.what);
  }
}

/// The kinds of lines of a schedule.
void list_decisions() {
  for (const compiled::DecisionKind& kind : compiled::decision_kinds()) {
    std::string words;
    for (const std::string_view p : kind.parameters) words += fmt::format("{}{}=", words.empty() ? "" : " ", p);
    if (kind.parameters.empty()) words = "on or off";
    else if (kind.has_off) words += ", or off";
    std::cout << fmt::format("{:10} {:36} {}{}\n", kind.name, words, kind.what, kind.orders_sums ? " (orders sums)" : "");
  }
}

/// What this machine has, what its instructions mean, and by what numbers the compiler trades one cost for another.
void print_machine() {
  const compiled::Jit jit;
  const compiled::Machine m = jit.machine();
  std::cout << fmt::format("order of sums {}\nlanes {}\nvector registers {}\nfirst cache {} bytes\nsecond cache {} bytes\nlast cache {} bytes\n\n", m.order_of_sums(),
                           m.lanes_f32, m.vector_registers, m.near_bytes, m.middle_bytes, m.last_bytes);
  for (const compiled::Instruction& i : compiled::instructions) {
    if (jit.has(i)) std::cout << to_text(i) << "\n";
  }
  std::cout << "\n";
  for (const compiled::Threshold& t : compiled::thresholds) std::cout << fmt::format("{:30} {:>8} {:10} {}\n", t.name, t.value, t.unit, t.reason);
}

/// A number of bytes, with K, M or G for powers of 1024.
std::size_t bytes_in(const std::string& text) {
  constexpr std::string_view units = "KMG";
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t unit = rest.empty() ? 0 : units.find(rest.front()) + 1;
  if (error != std::errc() || rest.size() > 1 || (unit == 0 && !rest.empty()) || value > (SIZE_MAX >> (10 * unit))) {
    throw SpecViolation("--memory-budget: expected a number of bytes such as 1048576, 64K, 64M or 2G, found '" + text + "'");
  }
  return value << (10 * unit);
}

/// The decisions to follow: those of a file, or what was tuned for the program.
std::vector<compiled::DecisionLine> decisions_of(const CompileChoices& choices, const spec::Program& program) {
  if (choices.schedule.empty()) return {};
  if (choices.schedule != "tuned") return compiled::decisions_in(read_file(choices.schedule), choices.schedule);
  const std::filesystem::path folder = choices.cache.empty() ? compiled::default_cache_folder() : std::filesystem::path(choices.cache);
  return compiled::tuned_decisions(folder, with_extents(program), compiled::Processor().machine());
}

/// \param loops gets the kernels as text, where they are asked for
compiled::CompileOptions options_of(const CompileChoices& choices, const spec::Program& program, std::string& loops) {
  compiled::CompileOptions options;
  options.decisions = decisions_of(choices, program);
  if (!choices.loops.empty()) options.loops = {read_file(choices.loops), choices.loops};
  if (!choices.memory_budget.empty()) options.plan.memory_budget = bytes_in(choices.memory_budget);
  if (!choices.contract.empty()) options.schedule.promises = contract_of(choices.contract);
  options.off.insert(choices.off.begin(), choices.off.end());
  options.dump_after.insert(choices.dump_after.begin(), choices.dump_after.end());
  options.cache = choices.cache;
  options.explain = choices.json;
  if (!options.dump_after.empty()) options.dump = print_stage;
  if (choices.loops_out.empty()) return options;
  const bool shown = !options.dump_after.insert(std::string(name_of(compiled::Level::loops))).second;
  options.dump = [&loops, shown](std::string_view stage, const std::string& text) {
    const bool kept = stage == name_of(compiled::Level::loops);
    if (kept) loops = text;
    if (!kept || shown) print_stage(stage, text);
  };
  return options;
}

void print_json(const compiled::Report& report) {
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const compiled::KernelReport& k : report.kernel_reports) {
    kernels.push_back({{"name", k.name}, {"read_bytes", k.read_bytes}, {"written_bytes", k.written_bytes}, {"operations", k.operations}, {"reason", k.reason}});
  }
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (const compiled::ValueReport& v : report.values) {
    values.push_back({{"name", v.name}, {"keeping", name_of(v.keeping)}, {"bytes", v.bytes}, {"where", v.where}, {"reason", v.reason},
                      {"layout", v.layout.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(v.layout)},
                      {"source", v.source.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(v.source)},
                      {"request", v.request.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(v.request)}});
  }
  const nlohmann::ordered_json all{{"arena_bytes", report.arena_bytes}, {"stack_bytes", report.stack_bytes}, {"input_bytes", report.input_bytes}, {"output_bytes", report.output_bytes},
                                   {"peak_bytes", report.peak_bytes()}, {"cached", report.cached}, {"kernels", kernels}, {"values", values}};
  std::cout << all.dump() << "\n";
}

void write_schedule(const CompileChoices& choices, const std::vector<compiled::DecisionLine>& decisions) {
  const std::string text = fmt::format("# What was decided about {} (docs/schedules.md). A line that is taken out is decided by cost.\n", choices.path) + compiled::to_text(decisions);
  if (choices.schedule_out == "-") std::cout << text;
  else write_file(choices.schedule_out, text);
}

void write_loops(const CompileChoices& choices, const std::string& loops) {
  const std::string text = fmt::format("-- The kernels of {} (docs/schedules.md). One that is taken out is as the compiler makes it.\n", choices.path) + loops;
  if (choices.loops_out == "-") std::cout << text;
  else write_file(choices.loops_out, text);
}

/// What is dumped stays out of what is emitted.
Emission emission_of(const CompileChoices& choices) {
  Emission emission{program_in_file(choices.path, choices.definitions), std::filesystem::path(choices.path).stem().string(), {}, choices.architecture};
  emission.options.cache = choices.cache;
  emission.options.off.insert(choices.off.begin(), choices.off.end());
  if (!choices.contract.empty()) emission.options.schedule.promises = contract_of(choices.contract);
  if (!choices.memory_budget.empty()) emission.options.plan.memory_budget = bytes_in(choices.memory_budget);
  return emission;
}

void emit_form(const CompileChoices& choices) {
  if (!choices.dump_after.empty()) throw SpecViolation("compile: --emit prints one form alone; leave --dump-after out, or use --debug-dir");
  Emission emission = emission_of(choices);
  emission.options.decisions = decisions_of(choices, emission.program);
  const std::string text = emitted(emission, choices.emit);
  if (!choices.schedule_out.empty()) write_schedule(choices, decided(emission, choices.emit));
  if (choices.output.empty() || choices.output == "-") {
    std::cout << text << (text.ends_with('\n') || choices.emit == "cubin" ? "" : "\n");
    return;
  }
  write_file(choices.output, text);
}

void write_debug_dir(const CompileChoices& choices) {
  const std::vector<std::string> files = write_stages(emission_of(choices), choices.debug_dir);
  std::cout << fmt::format("{}: {} files, {} to {}\n", choices.debug_dir, files.size(), files.front(), files.back());
}

void compile_file(const CompileChoices& choices) {
  if (choices.list) return list_stages();
  if (choices.machine) return print_machine();
  if (choices.decisions) return list_decisions();
  if (choices.path.empty()) throw SpecViolation("compile: a program file is missing");
  if (!choices.emit.empty() && choices.schedule == "tuned") throw SpecViolation("compile: --schedule tuned is for machine code of this processor; leave --emit out");
  if ((choices.emit == "program" || choices.emit == "equations") && !(choices.schedule.empty() && choices.schedule_out.empty())) {
    throw SpecViolation("compile: nothing is decided for --emit program or equations; leave --schedule and --schedule-out out");
  }
  if (!choices.emit.empty() && !(choices.loops.empty() && choices.loops_out.empty())) {
    throw SpecViolation("compile: --loops and --loops-out are about machine code; leave --emit out");
  }
  if (choices.emit.empty() && !choices.output.empty()) throw SpecViolation("compile: -o says where --emit writes, and --emit is missing");
  constexpr std::array<std::string_view, 3> for_devices{"ptx", "cubin", "resources"};
  if (std::ranges::find(for_devices, choices.emit) == for_devices.end() && choices.debug_dir.empty() && !choices.architecture.empty()) {
    throw SpecViolation("compile: --arch is for --emit ptx, cubin or resources and for --debug-dir");
  }
  if (!choices.debug_dir.empty()) write_debug_dir(choices);
  if (!choices.emit.empty()) return emit_form(choices);
  const spec::Program program = program_in_file(choices.path, choices.definitions);
  std::string loops;
  const compiled::Executable executable = compiled::compile(program, options_of(choices, program, loops));
  const compiled::Report& report = executable.report();
  if (!choices.schedule_out.empty()) write_schedule(choices, report.decisions);
  if (!choices.loops_out.empty()) write_loops(choices, loops);
  if (choices.json) return print_json(report);
  std::cout << fmt::format(
      "{}: {} equations, {} kernels, {} bytes of intermediates, {} with stacks, inputs and outputs; passes {:.1f} ms, code {:.1f} ms{}\n", choices.path,
      executable.system().equations.size(), report.kernels, report.arena_bytes, report.peak_bytes(), report.passes_seconds * 1e3,
      report.codegen_seconds * 1e3, report.cached ? " (kept from an earlier compilation)" : "");
  if (!choices.times) return;
  for (const auto& [stage, seconds] : report.stages) std::cout << fmt::format("  {:<20} {:8.2f} ms\n", stage, seconds * 1e3);
}

}  // namespace

void add_compile(Command app, Outcome& outcome) {
  Command command = app.command("compile", "Show what the compiler makes of a program, stage by stage");
  command.footer(compile_examples);
  auto choices = std::make_shared<CompileChoices>();
  command.option("file", choices->path, "The program, as text or JSON");
  command.option("--definitions", choices->definitions, "A file with definitions of your own");
  command.option("--off", choices->off, "A stage, or a choice within one, that is left out (--list names them); all for every one that may be");
  command.option("--dump-after", choices->dump_after,
                      "A stage after which the result is printed, or a level (equations, plan, loops, llvm, asm) that is printed as it is in the end; all for every stage");
  command.option("--cache", choices->cache, "A folder that keeps machine code for the next time");
  command.option("--memory-budget", choices->memory_budget,
                      "Most bytes of intermediates, such as 64M: values are computed again instead of kept until they fit");
  command.option("--contract", choices->contract, "A shipped contract by name, or one in a JSON file, that programs are to keep instead of cpu: with cpu-bf16 products are of bf16 where the machine adds those in pairs");
  command.option("--schedule-out", choices->schedule_out, "A file for what was decided, one decision per line; - for standard output");
  command.option("--schedule", choices->schedule, "A file of decisions to follow, or tuned for what etalon tune has found; of what it does not say the costs decide");
  command.option("--loops-out", choices->loops_out, "A file for the kernels as loops, to be changed by hand; - for standard output");
  command.option("--loops", choices->loops, "A file of kernels as loops, which take the place of those that the compiler makes; they are not known to be right");
  std::string forms;
  for (const EmittedForm& form : emitted_forms()) forms += fmt::format("{}{} ({})", forms.empty() ? "" : ", ", form.name, form.what);
  command.option("--emit", choices->emit, "Print one form and nothing else: " + forms);
  command.option("-o,--output", choices->output, "The file that --emit writes instead of standard output");
  command.option("--arch", choices->architecture, "The virtual architecture of PTX, such as compute_90, or the real one of machine code, such as sm_90");
  command.option("--debug-dir", choices->debug_dir, "A folder for the text of every stage and form, in numbered files");
  command.flag("--explain-compile", choices->times, "What each stage took");
  command.flag("--json", choices->json, "Print what was made as one JSON object: kernels with the bytes that they move, values with where they are kept and why");
  command.flag("--machine", choices->machine, "Print what this machine has, its instructions as equations, and every threshold of the compiler with its reason, and stop");
  command.flag("--decisions", choices->decisions, "List the kinds of decisions that a schedule holds, and stop");
  command.flag("--list", choices->list, "List all stages from equations to machine code in order, and stop");
  command.callback([=, &outcome] {
    compile_file(*choices);
    outcome.status = 0;
  });
}

#else

void add_compile(Command app, Outcome&) {
  Command command = app.command("compile", "Show what the compiler makes of a program (not in this build)");
  command.allow_extras();
  command.callback([] { throw Unsupported("compile: not in this build; configure with -DETALON_COMPILED=ON"); });
}

#endif

}  // namespace etalon::command
