/// \file
/// Cases of several calls, one feeding the other. It knows no operation by name.
#pragma once

#include <optional>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// A random program that begins with the key's operation, with numbers for its inputs. Pairs mix moderate
/// numbers with any; of most others all values stay moderate, so that what one call rounds does not drown the next.
/// Nothing when no program was found.
[[nodiscard]] std::optional<Case> make_program_case(const CaseKey& key);

/// The operations that the program calls.
[[nodiscard]] std::vector<std::string> operations_of(const spec::Program& program);

}  // namespace etalon::conformance
