/// \file
/// A case whose types others chose than its key. It draws the numbers, and no types.
#pragma once

#include <optional>

#include "conformance/case.hpp"

namespace etalon::conformance {

/// The case of this key, of any check but programs and broken calls, with these choices in place of its own, which its id
/// does not tell. Nothing where no call is well-typed with them.
[[nodiscard]] std::optional<Case> make_case(const CaseKey& key, const Assignment& assignment);

}  // namespace etalon::conformance
