#include "compiled/pipeline.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "compiled/passes/passes.hpp"
#include "compiled/rewrites.hpp"
#include "compiled/wishes.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/system/simplify.hpp"

namespace etalon::compiled {

namespace {

/// The second round sees what inlining has brought together.
constexpr std::array pipeline{
    Pass{"remove_dead", "drop equations that no output needs", spec::remove_dead},
    Pass{"solve_guards", "turn equations between indices into substitutions and ranges", solve_guards},
    Pass{"name_reductions", "compute each reduction once, in an equation of its own", name_reductions},
    Pass{"fold_constants", "compute what is constant, where the result is exact", fold_constants},
    Pass{"simplify", "apply the rules that keep every bit", simplify},
    Pass{"share_common", "define equal tensors once", share_common},
    Pass{"inline_asked", "substitute what is asked to be inlined", inline_asked, true},
    Pass{"inline_locals", "substitute views and elementwise locals", inline_locals},
    Pass{"fold_constants", "compute what inlining made constant", fold_constants},
    Pass{"simplify", "apply the rules to what inlining brought together", simplify},
    Pass{"ask_results", "ask what was cut off at zero instead of what it was cut from", ask_results},
    Pass{"remove_dead", "drop what was inlined or shared", spec::remove_dead},
    Pass{"cut_expressions", "give parts of very long expressions equations of their own", cut_expressions},
    Pass{"separate_outputs", "give every output its own tensor that is no input", separate_outputs, true},
};

bool switched_off(const Pass& pass, const PipelineOptions& options) {
  return !pass.required && (options.off.contains(std::string(pass.name)) || options.off.contains("all"));
}

void check_names(const std::set<std::string>& names, std::string_view option, const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation(std::string(option) + ": " + unknown_name("pass", name, known));
  }
}

void check(const PipelineOptions& options) {
  std::vector<std::string> known{"all"};
  for (const Pass& p : pipeline) known.emplace_back(p.name);
  check_names(options.dump_after, "dump-after", known);
  for (const Rewrite& r : rewrites()) known.emplace_back(r.name);
  check_names(options.off, "off", known);
  for (const Pass& p : pipeline) {
    if (p.required && options.off.contains(std::string(p.name))) {
      throw SpecViolation("off: pass '" + std::string(p.name) + "' cannot be switched off: later stages rely on it");
    }
  }
}

void verify_after(const spec::System& system, std::string_view pass) {
  try {
    spec::verify(system);
  } catch (const std::exception& e) {
    throw InternalError("pass " + std::string(pass) + " left an ill-formed system: " + e.what());
  }
}

/// What is asked to be stored is, while passes run, an output behind the others: they leave outputs alone.
void output_stored(spec::System& system) {
  std::vector<bool> there(system.tensors.size());
  for (const auto* list : {&system.inputs, &system.outputs}) {
    for (const spec::TensorId t : *list) there[static_cast<std::size_t>(t)] = true;
  }
  const std::vector<bool> stored = tensors_asked(system, spec::Asked::stored);
  for (std::size_t t = 0; t < stored.size(); ++t) {
    if (stored[t] && !there[t]) system.outputs.push_back(static_cast<spec::TensorId>(t));
  }
}

}  // namespace

std::span<const Pass> passes() { return pipeline; }

void optimise(spec::System& system, const PipelineOptions& options) {
  check(options);
  check_wishes(system);
  const std::size_t outputs = system.outputs.size();
  output_stored(system);
  for (const Pass& pass : pipeline) {
    if (switched_off(pass, options)) continue;
    const auto start = std::chrono::steady_clock::now();
    pass.run(system);
    if (options.timed) options.timed(pass.name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (options.verify) verify_after(system, pass.name);
    if (options.dump && (options.dump_after.contains(std::string(pass.name)) || options.dump_after.contains("all"))) {
      options.dump(pass.name, spec::to_text(system));
    }
  }
  system.outputs.resize(outputs);
}

}  // namespace etalon::compiled
