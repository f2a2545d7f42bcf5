/// \file
/// Small questions to a backend, drawn as conformance runs draw them: the seeds of what is fuzzed in JSON.
#pragma once

#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "spec/backend.hpp"

namespace etalon::fuzz {

/// One case of every tenth operation in each check, none of more than some elements.
[[nodiscard]] std::vector<conformance::Case> sample_cases();

/// The requests of those cases.
[[nodiscard]] std::vector<spec::Request> sample_requests();

}  // namespace etalon::fuzz
