#include "conformance/check_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "conformance/judge.hpp"
#include "conformance/program_case.hpp"
#include "spec/program/analysis.hpp"

namespace etalon::conformance {
namespace {

using Values = std::map<std::string, HostTensor>;

/// The case's request with all results as outputs.
[[nodiscard]] spec::Request asking_for_all(const Case& c) {
  spec::Request request = request_of(c, 0);
  request.program.outputs.clear();
  for (const auto& step : request.program.steps) {
    const auto& results = std::get<spec::Call>(step).results;
    request.program.outputs.insert(request.program.outputs.end(), results.begin(), results.end());
  }
  return request;
}

/// One call of the program as a request of its own, on these values.
[[nodiscard]] spec::Request alone(const spec::Request& whole, const spec::Call& call, const Values& values) {
  spec::Request request;
  request.id = whole.id;
  request.program.definitions = whole.program.definitions;
  spec::Call copy = call;
  // The same value may be read twice: it is two inputs then.
  const auto take = [&](std::string& name) {
    const HostTensor& value = values.at(name);
    name = "x" + std::to_string(request.inputs.size());
    spec::Input input;
    input.name = name;
    input.dtype = value.dtype;
    input.dims = value.dims;
    request.program.inputs.push_back(std::move(input));
    request.inputs.push_back(value);
  };
  for (auto& operand : copy.operands) {
    if (operand) take(*operand);
  }
  for (auto& [name, value] : copy.attributes) {
    if (auto* runtime = std::get_if<spec::ValueName>(&value)) take(runtime->name);
  }
  request.wrt.assign(request.inputs.size(), false);
  request.program.outputs = call.results;
  request.program.steps.emplace_back(std::move(copy));
  return request;
}

/// Where the walk over a program's calls stopped.
struct Walk {
  Outcome total;
  std::optional<std::size_t> failed_at;
  std::optional<spec::Request> failed;  ///< the call that failed, alone
};

void add(Outcome& total, const Outcome& one) {
  total.comparisons += one.comparisons;
  total.undecided += one.undecided;
  total.worst_ratio = std::max(total.worst_ratio, one.worst_ratio);
}

[[nodiscard]] Walk walk(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = asking_for_all(c);
  Walk found;
  const spec::Answer answer = backend.run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) {
    found.total = refused(*refusal);
    found.total.calls = operations_of(request.program);
    return found;
  }
  const auto& outputs = std::get<spec::Numbers>(answer).outputs;
  if (outputs.size() != request.program.outputs.size()) {
    found.total = failed(fmt::format("expected {} outputs, got {}", request.program.outputs.size(), outputs.size()));
    return found;
  }
  Values values;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) values[request.program.inputs[i].name] = request.inputs[i];
  std::size_t next = 0;
  for (std::size_t k = 0; k < request.program.steps.size(); ++k) {
    const auto& call = std::get<spec::Call>(request.program.steps[k]);
    const spec::Request one = alone(request, call, values);
    spec::Numbers numbers;
    for (const std::string& name : call.results) {
      numbers.outputs.push_back(outputs[next]);
      values[name] = outputs[next++];
    }
    Outcome outcome = judge(one, numbers, contract);
    add(found.total, outcome);
    if (outcome.verdict != Verdict::fail) continue;
    outcome.why = fmt::format("call {} ({}){}{}", k + 1, call.operation, outcome.why.empty() ? "" : ": ", outcome.why);
    outcome.comparisons = found.total.comparisons;
    outcome.calls = {call.operation};
    found.total = std::move(outcome);
    found.failed_at = k;
    found.failed = one;
    return found;
  }
  if (found.total.comparisons > 0 && found.total.undecided == found.total.comparisons) {
    found.total.verdict = Verdict::undecided;
    found.total.why = "the bound says nothing useful here";
  }
  return found;
}

[[nodiscard]] bool has_parts(const Case& c) {
  const auto operations = operations_of(*c.program);
  return std::any_of(operations.begin(), operations.end(),
                     [&](const std::string& name) { return c.key.library.named(name).part_count > 0; });
}

/// As a whole. Where a definition lets its call be computed in other ways, the bounds of the whole do not cover them all:
/// what lies outside then convicts nobody.
[[nodiscard]] Outcome judged_as_a_whole(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = request_of(c, 0);
  Outcome outcome = judge(request, backend.run(request), contract);
  outcome.calls = operations_of(request.program);
  if (outcome.verdict != Verdict::fail || !outcome.offender || !has_parts(c)) return outcome;
  Outcome unclear;
  unclear.verdict = Verdict::undecided;
  unclear.comparisons = unclear.undecided = outcome.comparisons;
  unclear.why = "a call may be computed in other ways, which the bound of the whole does not cover";
  return unclear;
}

[[nodiscard]] bool is_walked(const Case& c, const Asked& backend) {
  return c.mode == spec::Mode::forward && !backend.fuses();
}

}  // namespace

Outcome check_program(const Case& c, Asked& backend, const spec::Contract& contract) {
  return is_walked(c, backend) ? walk(c, backend, contract).total : judged_as_a_whole(c, backend, contract);
}

std::optional<Case> failing_call(const Case& c, Asked& backend, const spec::Contract& contract) {
  if (!is_walked(c, backend)) return std::nullopt;
  const Walk found = walk(c, backend, contract);
  if (!found.failed_at) return std::nullopt;
  const auto& call = std::get<spec::Call>(found.failed->program.steps.front());
  Case alone;
  alone.key = c.key;
  alone.key.operation = call.operation;
  alone.key.check = Check::value;
  if (*found.failed_at < c.assignments.size()) alone.assignment = c.assignments[*found.failed_at];
  alone.call = {call.operation, {}, call.packs, call.attributes};
  std::size_t next = 0;
  for (const auto& operand : call.operands) {
    alone.call.operands.emplace_back();
    alone.operands.emplace_back();
    if (!operand) continue;
    const HostTensor& value = found.failed->inputs[next++];
    alone.call.operands.back() = spec::ValueType{value.dtype, value.dims};
    alone.operands.back() = value;
  }
  return alone;
}

}  // namespace etalon::conformance
