// The schedules of all workloads are written out and followed: the loops are the same.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "compiled/compile.hpp"
#include "compiled/task.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

struct Made {
  std::string text;
  std::vector<compiled::DecisionLine> decisions;
};

Made made_of(const compiled::Task& task, const std::vector<compiled::DecisionLine>& given) {
  compiled::CompileOptions options;
  options.decisions = given;
  compiled::Kept kept;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    if (task.inputs[i].role == spec::Role::parameter) kept.inputs.push_back({i, std::nullopt});
  }
  for (compiled::KeptInput& k : kept.inputs) {
    for (const compiled::PlanOptions::Update& u : task.updates) {
      if (u.input == k.input) k.output = u.output;
    }
  }
  const compiled::Compilation c = compiled::lower_to_loops(task.system, task.updates, options, compiled::Machine{16, 32}, kept);
  Made made{to_text(c.system, c.plan), c.deciding.taken()};
  for (const compiled::loops::Nest& nest : c.nests) made.text += to_text(c.system, nest);
  return made;
}

}  // namespace

TEST_CASE("schedules_of_all_workloads_are_followed", "[schedules]") {
  std::set<std::string> kinds;
  for (const Workload& workload : all_workloads()) {
    INFO(workload.name);
    const compiled::Task task = compiled::task_of(program_of(workload, DType::f32));
    const Made first = made_of(task, {});
    // As text, which is what a file holds.
    const Made again = made_of(task, compiled::decisions_in(compiled::to_text(first.decisions), "s"));
    REQUIRE_FALSE(first.decisions.empty());
    CHECK(again.text == first.text);
    CHECK(compiled::to_text(again.decisions) == compiled::to_text(first.decisions));
    for (const compiled::DecisionLine& line : first.decisions) kinds.insert(line.kind);
  }
  for (const compiled::DecisionKind& kind : compiled::decision_kinds()) {
    INFO(kind.name << " is decided in no workload");
    CHECK(kinds.contains(std::string(kind.name)));
  }
}
