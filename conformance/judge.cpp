#include "conformance/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "conformance/admit_schemas.hpp"
#include "conformance/call_by_call.hpp"
#include "conformance/components.hpp"
#include "conformance/question.hpp"
#include "conformance/reports/json_lines.hpp"
#include "conformance/schemas.hpp"
#include "conformance/values.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

constexpr double infinity = std::numeric_limits<double>::infinity();

[[nodiscard]] std::string admitted(const reference::Admitted& expected) {
  std::string text;
  const auto add = [&](std::uint8_t flag, const char* name) {
    if ((expected.flags & flag) == 0) return;
    if (!text.empty()) text += " or ";
    text += name;
  };
  add(reference::admits_positive_infinity, "inf");
  add(reference::admits_negative_infinity, "-inf");
  add(reference::admits_nan, "nan");
  return text;
}

// The tensors that an answer's list must hold, in order; what is wrong with the list, or nothing.
std::string take(const AnswerList& list, const std::vector<std::optional<HostTensor>>& from,
                 std::vector<HostTensor>& to) {
  if (from.size() != list.present.size())
    return fmt::format("expected {} {}, got {}", list.present.size(), list.name, from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (list.present[i] && !from[i]) return fmt::format("{}[{}] is missing", list.name, i);
    if (!list.present[i] && from[i]) return fmt::format("{}[{}] stands where there is none", list.name, i);
    if (from[i]) to.push_back(*from[i]);
  }
  return "";
}

const std::vector<std::optional<HostTensor>>& list_of(const spec::Numbers& numbers, const std::string& name) {
  return name == "cotangents" ? numbers.cotangents : numbers.tangents;
}

/// Of a program of several calls what follows from the form of its equations.
[[nodiscard]] std::vector<Schema> schemas_of(const spec::Request& request, const Question& question) {
  if (const auto c = case_of(request)) return other_schemas(*c, c->mode);
  return schemas_by_form({question.system, question.inputs});
}

[[nodiscard]] bool may_be_no_number(const reference::Envelope& envelope) {
  constexpr auto no_number = reference::admits_nan | reference::admits_positive_infinity | reference::admits_negative_infinity;
  return std::any_of(envelope.flags.begin(), envelope.flags.end(), [](std::uint8_t f) { return (f & no_number) != 0; });
}

/// Beside values and cotangents that are no numbers there is no second derivative to hold anybody to.
void leave_open_beside_infinities(reference::Envelopes& bounds, const spec::Request& request) {
  if (request.mode != spec::Mode::jvp_of_vjp) return;
  const auto marked = static_cast<std::size_t>(std::count(request.wrt.begin(), request.wrt.end(), true));
  const std::size_t first = request.program.outputs.size() + marked;
  const auto second = bounds.outputs.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::none_of(bounds.outputs.begin(), second, may_be_no_number)) return;
  for (auto e = second; e != bounds.outputs.end(); ++e) {
    for (std::uint8_t& flags : e->flags) flags |= reference::undecided;
  }
}

/// Whether the request calls several operations, one of which its definition lets be computed in other ways; what it says of
/// derivatives alone leaves values as they are.
[[nodiscard]] bool has_ways(const spec::Request& request) {
  const auto& steps = request.program.steps;
  const spec::Library library = spec::library_of(request.program);
  const auto counts = [&](spec::PartForm form) { return form == spec::PartForm::also || request.mode != spec::Mode::forward; };
  return steps.size() > 1 && std::any_of(steps.begin(), steps.end(), [&](const auto& step) {
    const auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) return false;
    const spec::Definition& d = library.named(call->operation);
    return std::any_of(d.parts, d.parts + d.part_count, counts);
  });
}

/// Hulls with what the calls may answer in all their ways, or everything undecided where that says nothing.
void admit_ways(reference::Envelopes& bounds, const spec::Request& request, const spec::Contract& contract) {
  const auto ways = call_by_call(request, contract);
  for (reference::Envelope& e : bounds.outputs) {
    e.alternatives.clear();  // each element has the hull of its branches
    if (ways) continue;
    for (std::uint8_t& flags : e.flags) flags |= reference::undecided;
  }
  if (ways) widen(bounds, *ways);
}

[[nodiscard]] Outcome judged(const spec::Request& request, const spec::Numbers& numbers,
                             const spec::Contract& contract) {
  const Question question = question_of(request);
  std::vector<HostTensor> got;
  for (const AnswerList& list : question.lists) {
    const std::vector<std::optional<HostTensor>> outputs(numbers.outputs.begin(), numbers.outputs.end());
    const std::string problem = take(list, list.name == "outputs" ? outputs : list_of(numbers, list.name), got);
    if (!problem.empty()) return failed(problem);
  }
  reference::Envelopes bounds = reference::envelopes(question.system, question.inputs, contract);
  if (!reference::judge(got, bounds).passed()) {
    const Freedoms freedoms = where_undifferentiable(question.system, question.inputs, layout_of(request), bounds, contract);
    admit_schemas(bounds, got, schemas_of(request, question), freedoms, contract);
    leave_open_beside_infinities(bounds, request);
    if (!reference::judge(got, bounds).passed() && has_ways(request)) admit_ways(bounds, request, contract);
  }
  std::vector<std::string> names;
  for (const spec::TensorId id : question.system.outputs) names.push_back(question.system[id].name);
  return outcome_of(reference::judge(got, bounds), got, names);
}

/// Whether the answer's lists are as long as the request asks; of one that is not the whole says what is wrong.
[[nodiscard]] bool is_complete(const spec::Request& request, const spec::Numbers& numbers) {
  using spec::Mode;
  const std::size_t outputs = request.program.outputs.size(), inputs = request.program.inputs.size();
  const std::size_t tangents = request.mode == Mode::jvp ? outputs : request.mode == Mode::jvp_of_vjp ? inputs : 0;
  const std::size_t cotangents = request.mode == Mode::vjp || request.mode == Mode::jvp_of_vjp ? inputs : 0;
  return numbers.outputs.size() == outputs && numbers.tangents.size() == tangents && numbers.cotangents.size() == cotangents;
}

/// The outcomes of independent parts as one: the first failure, and all that was compared.
[[nodiscard]] Outcome joined(const spec::Request& request, const spec::Numbers& numbers, const std::vector<Component>& parts,
                             const spec::Contract& contract) {
  Outcome all;
  std::optional<Outcome> wrong;
  for (const Component& part : parts) {
    Outcome one = judged(part.request, part.part_of(numbers), contract);
    all.comparisons += one.comparisons;
    all.undecided += one.undecided;
    all.worst_ratio = std::max(all.worst_ratio, one.worst_ratio);
    all.statistic.add(one.statistic);
    if (one.verdict != Verdict::fail || wrong) continue;
    if (one.offender) one.offender->output = part.place_in(request, one.offender->output);
    wrong = std::move(one);
  }
  if (wrong) {
    all.verdict = Verdict::fail;
    all.why = std::move(wrong->why);
    all.offender = std::move(wrong->offender);
  } else if (all.undecided > 0 && all.undecided == all.comparisons) {
    all.verdict = Verdict::undecided;
    all.why = "the bound says nothing useful here";
  }
  return all;
}

}  // namespace

Outcome failed(std::string why) {
  Outcome outcome;
  outcome.verdict = Verdict::fail;
  outcome.comparisons = 1;
  outcome.worst_ratio = infinity;
  outcome.why = std::move(why);
  return outcome;
}

Outcome refused(const spec::Refusal& refusal) {
  using Kind = spec::Refusal::Kind;
  if (refusal.kind == Kind::rejected) return failed("rejected a well-typed call: " + refusal.why);
  if (refusal.kind == Kind::error) return failed("failed: " + refusal.why);
  Outcome outcome;
  outcome.verdict = refusal.kind == Kind::crashed   ? Verdict::crashed
                    : refusal.kind == Kind::timeout ? Verdict::timeout
                                                    : Verdict::unsupported;
  outcome.why = refusal.why;
  return outcome;
}

Outcome outcome_of(const reference::Verdict& verdict, const std::vector<HostTensor>& got,
                   const std::vector<std::string>& names) {
  Outcome outcome;
  outcome.comparisons = verdict.comparisons + verdict.undecided;
  outcome.undecided = verdict.undecided;
  outcome.worst_ratio = verdict.worst_ratio;
  outcome.statistic = verdict.statistic;
  if (verdict.passed()) {
    const bool all = verdict.undecided > 0 && verdict.comparisons == 0;
    outcome.verdict = all ? Verdict::undecided : Verdict::pass;
    if (all) outcome.why = "the bound says nothing useful here";
    return outcome;
  }
  outcome.verdict = Verdict::fail;
  outcome.why = verdict.message;
  outcome.comparisons = std::max<std::size_t>(outcome.comparisons, 1);
  if (verdict.output < got.size() && verdict.first_offender != reference::Verdict::nothing) {
    const bool finite = (verdict.expected.flags & reference::admits_finite) != 0;
    outcome.offender = Offender{names[verdict.output],
                                verdict.first_offender,
                                finite ? verdict.expected.lower : std::nan(""),
                                finite ? verdict.expected.upper : std::nan(""),
                                element(got[verdict.output], verdict.first_offender),
                                admitted(verdict.expected),
                                got[verdict.output].dtype,
                                verdict.output};
  }
  return outcome;
}

Outcome judge(const spec::Request& request, const spec::Answer& answer, const spec::Contract& contract) {
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
  const auto& numbers = std::get<spec::Numbers>(answer);
  const std::vector<Component> parts = is_complete(request, numbers) ? components_of(request) : std::vector<Component>();
  return parts.empty() ? judged(request, numbers, contract) : joined(request, numbers, parts, contract);
}

std::string judge_line(std::string_view line, const spec::Contract& contract, Outcome& outcome) {
  const Json pair = spec::parse_json(line, "pair");
  spec::fields::require_object(pair, "pair");
  const spec::Request request = spec::request_from_json(spec::fields::member(pair, "request", ""));
  Json answer = spec::fields::member(pair, "answer", "");
  if (answer.is_object() && !answer.contains("id")) answer["id"] = nullptr;  // the pair says whose it is
  const spec::Reply reply = spec::decode_reply(spec::to_line(answer));
  try {
    spec::verify_inputs(request.program, request.inputs);
    outcome = judge(request, reply.answer, contract);
  } catch (const std::exception& error) {
    // The definitions refuse the request: the answer may be right, but there is nothing to judge it by.
    outcome = {};
    outcome.verdict = Verdict::unsupported;
    outcome.why = error.what();
  }
  Json verdict{{"id", request.id}};
  verdict.update(to_json(outcome));
  verdict["undecided"] = outcome.undecided;
  return spec::to_line(verdict);
}

}  // namespace etalon::conformance
