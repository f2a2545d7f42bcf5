#include "tests/rewrites/rewriting.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "compiled/codegen/jit.hpp"
#include "compiled/pipeline.hpp"
#include "compiled/rewrites.hpp"

namespace etalon::test {

namespace {

std::shared_ptr<compiled::Jit> jit() {
  static const auto one = std::make_shared<compiled::Jit>();
  return one;
}

std::string loops_of(const compiled::Lowered& lowered) {
  std::string text;
  for (const compiled::loops::Nest& nest : lowered.nests) text += compiled::loops::to_text(lowered.system, nest);
  return text;
}

}  // namespace

std::vector<Named> all_rewrites() {
  std::vector<Named> all;
  std::set<std::string> known;
  for (const compiled::Pass& pass : compiled::passes()) {
    if (!pass.required && known.emplace(pass.name).second) all.push_back({std::string(pass.name)});
  }
  for (const compiled::Rewrite& r : compiled::rewrites()) all.push_back({std::string(r.name), r.orders_sums});
  return all;
}

compiled::CompileOptions eager() {
  compiled::CompileOptions options;
  options.jit = jit();
  options.schedule.always = true;
  options.schedule.last_cache_bytes = 1 << 10;
  options.schedule.middle_cache_bytes = 1 << 10;
  return options;
}

compiled::CompileOptions without(compiled::CompileOptions options, const std::string& name) {
  options.pipeline.off.insert(name);
  return options;
}

compiled::Lowered lowered(const spec::System& system, const compiled::CompileOptions& options) {
  return lowered(system, options, jit()->machine());
}

compiled::Lowered lowered(const spec::System& system, const compiled::CompileOptions& options, const compiled::Machine& machine) {
  return compiled::lower_to_loops(system, {}, options, machine);
}

bool alike(const compiled::Lowered& a, const compiled::Lowered& b) { return loops_of(a) == loops_of(b); }

std::vector<HostTensor> outputs_of(const spec::System& system, const compiled::CompileOptions& options, const std::vector<HostTensor>& inputs) {
  return compiled::compile_system(system, options).run(inputs);
}

}  // namespace etalon::test
