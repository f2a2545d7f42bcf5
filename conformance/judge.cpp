#include "conformance/judge.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <variant>

#include "conformance/admissible.hpp"
#include "conformance/reports/json_lines.hpp"
#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"

namespace etalon::conformance {

using spec::Json;

Outcome judge(const spec::Request& request, const spec::Answer& answer, const spec::Contract& contract) {
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) return refused(*refusal);
  return Admissible(request, contract).judge(std::get<spec::Numbers>(answer));
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
