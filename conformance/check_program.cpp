#include "conformance/check_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "conformance/components.hpp"
#include "conformance/judge.hpp"
#include "conformance/program_case.hpp"
#include "conformance/single_call.hpp"

namespace etalon::conformance {
namespace {

/// The case's request with all results as outputs.
[[nodiscard]] spec::Request asking_for_all(const Case& c) {
  spec::Request request = request_of(c);
  request.program.outputs.clear();
  for (const auto& step : request.program.steps) {
    const auto& results = std::get<spec::Call>(step).results;
    request.program.outputs.insert(request.program.outputs.end(), results.begin(), results.end());
  }
  return request;
}

/// Where the walk over a program's calls stopped.
struct Walk {
  Outcome total;
  std::optional<std::size_t> failed_at;
  std::optional<spec::Request> failed;  ///< the call that failed, alone
};

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
  std::map<std::string, HostTensor> values;
  for (std::size_t i = 0; i < request.inputs.size(); ++i) values[request.program.inputs[i].name] = request.inputs[i];
  std::size_t next = 0;
  for (std::size_t k = 0; k < request.program.steps.size(); ++k) {
    const auto& call = std::get<spec::Call>(request.program.steps[k]);
    const spec::Request one = single_call(request, call, values);
    spec::Numbers numbers;
    for (const std::string& name : call.results) {
      numbers.outputs.push_back(outputs[next]);
      values[name] = outputs[next++];
    }
    Outcome outcome = judge(one, numbers, contract);
    found.total.add(outcome);
    if (outcome.verdict != Verdict::fail) continue;
    outcome.why = fmt::format("call {} ({}){}{}", k + 1, call.operation, outcome.why.empty() ? "" : ": ", outcome.why);
    outcome.comparisons = found.total.comparisons;
    outcome.calls = {call.operation};
    found.total = std::move(outcome);
    found.failed_at = k;
    found.failed = one;
    return found;
  }
  found.total.decide();
  return found;
}

[[nodiscard]] bool is_walked(const Case& c, const Asked& backend) {
  return c.mode == spec::Mode::forward && !backend.fuses();
}

}  // namespace

Outcome check_program(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = request_of(c);
  Outcome each;
  // Parts are short: walking through them decides little more.
  const bool falls_apart = request.program.steps.size() > 1 && components_of(request).size() > 1;
  if (is_walked(c, backend) && !falls_apart) {
    each = walk(c, backend, contract).total;
    // Of what nobody sees compilers make something else.
    if (each.verdict != Verdict::pass) return each;
  }
  Outcome outcome = judge(request, backend.run(request), contract);
  outcome.calls = operations_of(request.program);
  outcome.add(each);
  if (outcome.verdict == Verdict::undecided && each.comparisons > each.undecided) outcome.verdict = Verdict::pass, outcome.why.clear();
  return outcome;
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
