// The schedules of all workloads are written out and followed: the loops are the same.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "compiled/compile.hpp"
#include "compiled/task.hpp"
#include "cuda/grid.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

struct Made {
  std::string text;
  std::vector<compiled::DecisionLine> decisions;
};

Made made_by(const compiled::Compilation& c) {
  Made made{to_text(c.system, c.plan), c.deciding.taken()};
  for (const compiled::loops::Nest& nest : c.nests) made.text += to_text(c.system, nest);
  return made;
}

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
  return made_by(compiled::lower_to_loops(task.system, task.updates, options, compiled::Machine{16, 32}, kept));
}

/// For the threads of a grid, whose memory is never updated in place.
Made made_for_grid(const compiled::Task& task, const std::vector<compiled::DecisionLine>& given) {
  compiled::CompileOptions options;
  options.decisions = given;
  return made_by(compiled::lower_to_loops(task.system, {}, options, cuda::machine));
}

}  // namespace

TEST_CASE("schedules_of_all_workloads_are_followed", "[schedules]") {
  std::set<std::string> kinds;
  for (const Workload& workload : all_workloads()) {
    INFO(workload.name);
    const compiled::Task task = compiled::task_of(program_of(workload, DType::f32));
    for (const auto& made : {made_of, made_for_grid}) {
      const Made first = made(task, {});
      // As text, which is what a file holds.
      const Made again = made(task, compiled::decisions_in(compiled::to_text(first.decisions), "s"));
      CHECK(again.text == first.text);
      CHECK(compiled::to_text(again.decisions) == compiled::to_text(first.decisions));
      if (made == made_of) REQUIRE_FALSE(first.decisions.empty());
      for (const compiled::DecisionLine& line : first.decisions) kinds.insert(line.kind);
    }
  }
  for (const compiled::DecisionKind& kind : compiled::decision_kinds()) {
    INFO(kind.name << " is decided in no workload");
    CHECK(kinds.contains(std::string(kind.name)));
  }
}
