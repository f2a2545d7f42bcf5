#include "tests/rewrites/rewriting.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "compiled/compile.hpp"
#include "compiled/runtime/processor.hpp"

namespace etalon::test {

namespace {

std::shared_ptr<compiled::Processor> processor() {
  static const auto one = std::make_shared<compiled::Processor>();
  return one;
}

std::string loops_of(const compiled::Compilation& lowered) {
  std::string text;
  for (const compiled::loops::Nest& nest : lowered.nests) text += compiled::loops::to_text(lowered.system, nest);
  return text;
}

}  // namespace

std::vector<Named> all_rewrites() {
  std::vector<Named> all;
  std::set<std::string> known;
  for (const compiled::Stage& stage : compiled::stages()) {
    // Kernels may be other ones without a rewrite of equations, and each adds up its sums in an order of its own.
    const bool orders = stage.orders_sums || (stage.leaves == compiled::Level::equations && stage.serves.empty());
    if (!stage.required && known.emplace(stage.name).second) all.push_back({std::string(stage.name), orders});
    for (const compiled::Choice& choice : stage.choices) all.push_back({std::string(choice.name), choice.orders_sums});
  }
  return all;
}

compiled::CompileOptions eager() {
  compiled::CompileOptions options;
  options.device = processor();
  options.schedule.always = true;
  options.schedule.last_cache_bytes = 1 << 10;
  options.schedule.middle_cache_bytes = 1 << 10;
  return options;
}

compiled::CompileOptions without(compiled::CompileOptions options, const std::string& name) {
  options.off.insert(name);
  return options;
}

compiled::Compilation lowered(const spec::System& system, const compiled::CompileOptions& options) {
  return lowered(system, options, processor()->machine());
}

compiled::Compilation lowered(const spec::System& system, const compiled::CompileOptions& options, const compiled::Machine& machine) {
  return compiled::lower_to_loops(system, {}, options, machine);
}

bool alike(const compiled::Compilation& a, const compiled::Compilation& b) { return loops_of(a) == loops_of(b); }

std::vector<HostTensor> outputs_of(const spec::System& system, const compiled::CompileOptions& options, const std::vector<HostTensor>& inputs) {
  return compiled::compile_system(system, options).run(inputs);
}

}  // namespace etalon::test
