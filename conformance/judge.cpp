#include "conformance/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "conformance/question.hpp"
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

[[nodiscard]] std::string admitted(const reference::Interval& expected) {
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

[[nodiscard]] Json number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

[[nodiscard]] Json to_json(const std::string& id, const Outcome& outcome) {
  Json json = {{"id", id},
               {"verdict", name_of(outcome.verdict)},
               {"comparisons", outcome.comparisons},
               {"undecided", outcome.undecided},
               {"worst_ratio", number(outcome.worst_ratio)}};
  if (!outcome.why.empty()) json["why"] = outcome.why;
  if (const auto& o = outcome.offender) {
    json["offender"] = {{"tensor", o->tensor},        {"element", o->element}, {"lower", number(o->lower)},
                        {"upper", number(o->upper)}, {"got", number(o->got)}, {"admits", o->expected}};
  }
  return json;
}

/// The request as a case, where it is one call of the program's inputs in order.
[[nodiscard]] std::optional<Case> case_of(const spec::Request& request) {
  const spec::Program& program = request.program;
  const auto* call = program.steps.size() == 1 ? std::get_if<spec::Call>(&program.steps[0]) : nullptr;
  if (call == nullptr || call->results != program.outputs) return std::nullopt;
  Case c;
  c.key.library = spec::library_of(program);
  c.mode = request.mode;
  c.call = {call->operation, {}, call->packs, call->attributes};
  std::size_t next = 0;
  for (const auto& operand : call->operands) {
    c.call.operands.emplace_back();
    c.operands.emplace_back();
    if (!operand) continue;
    if (next == program.inputs.size() || program.inputs[next].name != *operand) return std::nullopt;
    c.operands.back() = request.inputs[next];
    c.call.operands.back() = spec::ValueType{program.inputs[next].dtype, program.inputs[next].dims};
    ++next;
  }
  if (next != program.inputs.size()) return std::nullopt;
  c.wrt = request.wrt;
  c.tangents = request.tangents;
  c.tangents.resize(next);
  c.cotangents = request.cotangents;
  return c;
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
  admit_zero_outside_domain(bounds, request.program.outputs.size());
  if (const auto c = case_of(request); c && !reference::judge(got, bounds).passed())
    admit_schemas(bounds, got, other_schemas(*c, c->mode), contract);
  std::vector<std::string> names;
  for (const spec::TensorId id : question.system.outputs) names.push_back(question.system[id].name);
  return outcome_of(reference::judge(got, bounds), got, names);
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
                                admitted(verdict.expected)};
  }
  return outcome;
}

// Where a value must be NaN the operands are outside the domain, and its derivative is not defined. An evaluation may
// divide 0 by 0 there too, or see that the quotient depends on nothing: what would have to be infinite or NaN may also
// be 0, and nothing else.
void admit_zero_outside_domain(reference::Envelopes& bounds, std::size_t primal_outputs) {
  const auto must_be_nan = [](std::uint8_t flags) { return flags == reference::admits_nan; };
  bool outside = false;
  for (std::size_t r = 0; r < primal_outputs; ++r) {
    const auto& flags = bounds.outputs[r].flags;
    outside = outside || std::any_of(flags.begin(), flags.end(), must_be_nan);
  }
  if (!outside) return;
  for (std::size_t d = primal_outputs; d < bounds.outputs.size(); ++d) {
    reference::Envelope& e = bounds.outputs[d];
    for (std::size_t i = 0; i < e.flags.size(); ++i) {
      if ((e.flags[i] & (reference::admits_finite | reference::undecided)) != 0) continue;
      e.flags[i] |= reference::admits_finite;
      e.lower[i] = 0;
      e.upper[i] = 0;
    }
  }
}

Outcome judge(const spec::Request& request, const spec::Answer& answer, const spec::Contract& contract) {
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
  if (request.mode == spec::Mode::jvp_of_vjp) throw Unsupported("mode: judging jvp_of_vjp is not offered");
  return judged(request, std::get<spec::Numbers>(answer), contract);
}

std::string judge_line(std::string_view line, const spec::Contract& contract, Outcome& outcome) {
  const Json pair = spec::parse_json(line, "pair");
  spec::fields::require_object(pair, "pair");
  const spec::Request request = spec::request_from_json(spec::fields::member(pair, "request", ""));
  const spec::Reply reply = spec::decode_reply(spec::to_line(spec::fields::member(pair, "answer", "")));
  try {
    spec::verify_inputs(request.program, request.inputs);
    outcome = judge(request, reply.answer, contract);
  } catch (const std::exception& error) {
    // The definitions refuse the request: the answer may be right, but there is nothing to judge it by.
    outcome = {};
    outcome.verdict = Verdict::unsupported;
    outcome.why = error.what();
  }
  return spec::to_line(to_json(request.id, outcome));
}

}  // namespace etalon::conformance
