#include "conformance/script.hpp"

#include <exception>

namespace etalon::conformance {
namespace {

/// The place of the n-th entry that is marked.
[[nodiscard]] std::optional<std::size_t> nth(const std::vector<bool>& marks, std::size_t n) {
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] && n-- == 0) return i;
  }
  return std::nullopt;
}

[[nodiscard]] std::optional<spec::Shown> shown_of(const Case& c, const Offender& offender, const std::vector<spec::ValueType>& results) {
  if (offender.output < results.size()) return spec::Shown{"outputs", offender.output, offender.element};
  std::vector<bool> real;
  for (const spec::ValueType& type : results) real.push_back(kind_of(type.dtype) == Kind::real);
  if (c.mode == spec::Mode::jvp_of_vjp) return std::nullopt;
  const bool forward = c.mode == spec::Mode::jvp;
  const auto place = nth(forward ? real : c.wrt, offender.output - results.size());
  if (!place) return std::nullopt;
  return spec::Shown{forward ? "tangents" : "cotangents", *place, offender.element};
}

}  // namespace

std::optional<std::string> script_of(const Case& c, const Outcome& outcome, Asked& backend) {
  const bool one_request = c.key.check != Check::adjoint && c.key.check != Check::determinism && c.steps == 1;
  if (!one_request) return std::nullopt;
  try {
    const std::vector<spec::ValueType> results = result_types(c);
    const auto shown = outcome.offender ? shown_of(c, *outcome.offender, results) : std::nullopt;
    return backend.script(request_of(c), shown);
  } catch (const std::exception&) {  // ill-typed calls have no results to ask for
    return std::nullopt;
  }
}

}  // namespace etalon::conformance
