/// \file
/// A case as JSON that people can read and that `--replay` takes. It knows nothing of backends.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// One line: id, call with operand values, derivative requests. Reals are written so that they read back exactly.
[[nodiscard]] std::string to_json(const Case& c);
/// \throws SpecViolation for text that is not a case.
[[nodiscard]] Case case_from_json(std::string_view text, const spec::Library& library = {});

/// Types and attributes only, for cases that passed: `{"operands":["f32[2, 3]"],"attributes":{…}}`.
[[nodiscard]] std::string summary_json(const Case& c);

}  // namespace etalon::conformance
