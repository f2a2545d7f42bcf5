/// \file
/// What of a program case a backend is asked: of independent parts those that call only what it offers. It knows no numbers.
#pragma once

#include <optional>

#include "conformance/case.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

/// The case itself where everything in it is offered, or it has one part alone; otherwise the case of the parts that are offered
/// whole. Nothing where none of these calls the operation that the case is about.
[[nodiscard]] std::optional<Case> offered_parts(Case c, const spec::Description& description);

}  // namespace etalon::conformance
