#include "conformance/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>
#include <variant>

#include "conformance/admissible.hpp"
#include "conformance/known_causes.hpp"
#include "conformance/reports/report.hpp"
#include "reference/bounds/envelope.hpp"

namespace etalon::conformance {
namespace {

/// The tensor of an answer that has this place among outputs and then derivatives.
[[nodiscard]] std::optional<HostTensor> tensor_at(const spec::Numbers& numbers, std::size_t place) {
  if (place < numbers.outputs.size()) return numbers.outputs[place];
  place -= numbers.outputs.size();
  for (const auto* list : {&numbers.tangents, &numbers.cotangents}) {
    for (const auto& t : *list) {
      if (t && place-- == 0) return *t;
    }
  }
  return std::nullopt;
}

[[nodiscard]] bool is_one_request(const Case& c) {
  return !c.program && c.steps == 1 && c.mode != spec::Mode::jvp_of_vjp && c.key.check != Check::adjoint &&
         c.key.check != Check::determinism && c.key.check != Check::rejection;
}

/// Which of the two derivatives is outside its own bounds.
[[nodiscard]] std::string wrong_side(const Case& c, Asked& backend, const spec::Contract& contract) {
  std::string sides;
  for (const auto& [check_of_side, mode, name] :
       {std::tuple(Check::jvp, spec::Mode::jvp, "Jv"), std::tuple(Check::vjp, spec::Mode::vjp, "J'u")}) {
    Case side = c;
    side.key.check = check_of_side;
    side.mode = mode;
    const Outcome outcome = check(side, backend, contract);
    if (!is_bad(outcome.verdict)) continue;
    sides += fmt::format("{}{} is the wrong side: {}", sides.empty() ? "" : "; ", name, finding(outcome));
  }
  return sides.empty() ? "each side lies in its own bounds" : sides;
}

/// Outside by less than the interval's own width.
[[nodiscard]] bool is_close(const Offender& o) {
  const double beyond = o.got > o.upper ? o.got - o.upper : o.lower - o.got;
  return beyond < o.upper - o.lower;
}

/// The known causes see the whole tensor, as the backend gives it now.
[[nodiscard]] Lesson of_one_request(const Case& c, const Offender& offender, Asked& backend,
                                    const spec::Contract& contract) {
  Lesson lesson;
  const spec::Request request = request_of(c);
  const reference::Envelopes bounds = Admissible(request, contract).meaning();
  const reference::Envelope& expected = bounds.outputs.at(offender.output);
  const bool integers = kind_of(expected.dtype) != Kind::real;
  if (offender.element >= static_cast<std::size_t>(expected.dims.count())) return lesson;
  // Where NaN is due the equations mean no number.
  if (!integers && !std::isnan(offender.lower)) lesson.exact = expected.reference.at(offender.element);
  const spec::Answer answer = backend.run(request);
  const auto* numbers = std::get_if<spec::Numbers>(&answer);
  const auto got = numbers == nullptr ? std::nullopt : tensor_at(*numbers, offender.output);
  if (!got || got->dtype != expected.dtype || got->dims != expected.dims) return lesson;
  if (reference::judge(*got, expected).passed()) {
    lesson.cause = "asked once more it answers rightly: does the answer hang on what was asked before?";
    return lesson;
  }
  lesson.cause = known_cause(c, *got, expected, offender.output, contract);
  if (lesson.cause.empty() && is_close(offender))
    lesson.cause = "nearer to the interval than that is wide: another arrangement? a definition says it by `also`";
  return lesson;
}

}  // namespace

Lesson lesson_of(const Case& c, const Outcome& outcome, Asked& backend, const spec::Contract& contract) {
  try {
    if (c.key.check == Check::adjoint && !outcome.offender) return {std::nullopt, wrong_side(c, backend, contract)};
    if (outcome.offender && is_one_request(c)) return of_one_request(c, *outcome.offender, backend, contract);
  } catch (const std::exception&) {  // a failure stands without a lesson
  }
  return {};
}

}  // namespace etalon::conformance
