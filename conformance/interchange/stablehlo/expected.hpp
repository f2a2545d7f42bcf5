/// \file
/// What a module expects of its own values, as a question and an answer that can be judged.
#pragma once

#include <string>

#include "conformance/interchange/stablehlo/import.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance::stablehlo {

/// The values of which something is expected, and the numbers that are.
struct Question {
  spec::Request request;
  spec::Numbers expected;
};

/// Of a module without arguments. How near its author wanted the numbers is not looked at.
/// \param id the request's
/// \throws Unsupported naming an argument, a value whose expected numbers are computed, or that nothing is expected
[[nodiscard]] Question question_of(const Imported& imported, const std::string& id);

}  // namespace etalon::conformance::stablehlo
