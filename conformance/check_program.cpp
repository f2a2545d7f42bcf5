#include "conformance/check_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <variant>

#include "conformance/components.hpp"
#include "conformance/judge.hpp"
#include "conformance/program_case.hpp"
#include "conformance/single_call.hpp"
#include "conformance/wrong_call.hpp"

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
  std::optional<WrongCall> failed;
};

/// The failure in the name of one call.
[[nodiscard]] Outcome booked(Outcome outcome, std::size_t index, const std::string& operation) {
  outcome.why = fmt::format("call {} ({}){}{}", index + 1, operation, outcome.why.empty() ? "" : ": ", outcome.why);
  outcome.calls = {operation};
  return outcome;
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
    outcome.comparisons = found.total.comparisons;
    found.total = booked(std::move(outcome), k, call.operation);
    found.failed = WrongCall{k, one};
    return found;
  }
  found.total.decide();
  return found;
}

[[nodiscard]] bool is_walked(const Case& c, const Asked& backend) {
  return c.mode == spec::Mode::forward && !backend.fuses();
}

/// Parts are short: walking through them decides little more.
[[nodiscard]] bool falls_apart(const spec::Request& request) { return request.program.steps.size() > 1 && components_of(request).size() > 1; }

}  // namespace

Outcome check_program(const Case& c, Asked& backend, const spec::Contract& contract) {
  const spec::Request request = request_of(c);
  Outcome each;
  if (is_walked(c, backend) && !falls_apart(request)) {
    each = walk(c, backend, contract).total;
    // Of what nobody sees compilers make something else.
    if (each.verdict != Verdict::pass) return each;
  }
  Outcome outcome = judge(request, backend.run(request), contract);
  outcome.calls = operations_of(request.program);
  if (outcome.verdict == Verdict::fail && outcome.calls.size() > 1) {
    if (const auto wrong = wrong_call(request, backend, contract))
      outcome = booked(std::move(outcome), wrong->index, std::get<spec::Call>(wrong->request.program.steps.front()).operation);
  }
  outcome.add(each);
  if (outcome.verdict == Verdict::undecided && each.comparisons > each.undecided) outcome.verdict = Verdict::pass, outcome.why.clear();
  return outcome;
}

std::vector<spec::Request> known_program_requests(const Case& c, const Asked& backend) {
  std::vector<spec::Request> all{request_of(c)};
  if (is_walked(c, backend) && !falls_apart(all.front())) all.push_back(asking_for_all(c));
  return all;
}

std::optional<Case> failing_call(const Case& c, Asked& backend, const spec::Contract& contract) {
  std::optional<WrongCall> found;
  if (is_walked(c, backend)) found = walk(c, backend, contract).failed;
  if (!found) found = wrong_call(request_of(c), backend, contract);
  std::optional<Case> alone = found ? case_of(found->request) : std::nullopt;
  if (!alone) return std::nullopt;
  alone->key = c.key;
  alone->key.operation = alone->call.operation;
  alone->key.check = alone->mode == spec::Mode::forward ? Check::value : alone->mode == spec::Mode::jvp ? Check::jvp : Check::vjp;
  if (found->index < c.assignments.size()) alone->assignment = c.assignments[found->index];
  return alone;
}

}  // namespace etalon::conformance
