/// \file
/// A formula that stands where a program wants a call, as the assignment that it probably is, for messages.
#pragma once

#include <string>
#include <string_view>

#include "spec/program/program.hpp"

namespace etalon::spec {

/// `buffer y[...] = x[...] + 1` for the result `y` and what is left of the line, `x + 1 # a comment`.
[[nodiscard]] std::string formula_as_assignment(const Program& program, const std::string& result, std::string_view rest);

}  // namespace etalon::spec
