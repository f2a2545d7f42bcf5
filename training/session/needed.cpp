#include "training/session/needed.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "spec/error.hpp"
#include "spec/program/analysis.hpp"

namespace etalon::training {

namespace {

/// The names that a step reads and writes.
struct Uses {
  std::vector<std::string> reads;
  std::vector<std::string> writes;
};

Uses uses_of(const spec::Call& call) {
  return {spec::values_read(call), call.results};
}

Uses uses_of(const spec::Differentiate& step) {
  Uses u{step.of, step.results};
  u.reads.insert(u.reads.end(), step.wrt.begin(), step.wrt.end());
  for (const auto& seed : step.seeds) {
    if (seed) u.reads.push_back(*seed);
  }
  return u;
}

Uses uses_of(const spec::Assign&) { throw InternalError("session: a record holds no assignments"); }

Uses uses(const std::variant<spec::Call, spec::Differentiate, spec::Assign>& step) {
  return std::visit([](const auto& s) { return uses_of(s); }, step);
}

}  // namespace

spec::Program needed(spec::Program program) {
  std::set<std::string> wanted(program.outputs.begin(), program.outputs.end());
  for (const spec::Update& u : program.updates) wanted.insert({u.parameter, u.value});
  for (const spec::Wish& w : program.wishes) {
    if (w.asked == spec::Asked::capture) wanted.insert(w.value);
  }
  std::vector<bool> keep(program.steps.size());
  for (std::size_t i = program.steps.size(); i-- > 0;) {
    const Uses u = uses(program.steps[i]);
    keep[i] = std::any_of(u.writes.begin(), u.writes.end(), [&](const std::string& n) { return wanted.count(n) != 0; });
    if (keep[i]) wanted.insert(u.reads.begin(), u.reads.end());
  }
  std::size_t n = 0;
  std::erase_if(program.steps, [&](const auto&) { return !keep[n++]; });
  std::set<std::string> made;
  for (const auto& step : program.steps) {
    const Uses u = uses(step);
    made.insert(u.writes.begin(), u.writes.end());
  }
  std::erase_if(program.wishes, [&](const spec::Wish& w) { return wanted.count(w.value) == 0 && made.count(w.value) == 0; });
  std::erase_if(program.inputs, [&](const spec::Input& input) { return wanted.count(input.name) == 0; });
  return program;
}

std::set<std::string> dependent(const spec::Program& program, std::set<std::string> roots) {
  for (const auto& step : program.steps) {
    const Uses u = uses(step);
    if (std::any_of(u.reads.begin(), u.reads.end(), [&](const std::string& n) { return roots.count(n) != 0; })) {
      roots.insert(u.writes.begin(), u.writes.end());
    }
  }
  return roots;
}

}  // namespace etalon::training
