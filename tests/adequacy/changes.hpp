/// \file
/// Every mutant of one question. It asks nobody.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "tests/adequacy/mutant.hpp"

namespace etalon::adequacy {

/// The system that answers, in the mode of the case.
[[nodiscard]] spec::System system_of(const conformance::Case& c, const spec::Instance& instance);

/// What the changed equation reads beyond a tensor is what stands at its end.
void hold_inside(Change& change, const spec::System& system);

/// Whether the mutant of this sort, place and text is asked for.
using Wanted = std::function<bool(Sort, const std::string& place, const std::string& text)>;

/// Those changes of it that are wanted, equations first; they refer to the system. Derivatives are changed where they
/// differ from values: those have their own cases.
[[nodiscard]] std::vector<Change> changes_of(const conformance::Case& c, const spec::Instance& instance,
                                             const spec::System& system, const Wanted& wanted);

}  // namespace etalon::adequacy
