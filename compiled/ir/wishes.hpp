/// \file
/// What was asked of the tensors of a system, for passes and the planner. It knows neither programs nor kernels.
#pragma once

#include <string>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// Per tensor, whether that was asked of it.
[[nodiscard]] std::vector<bool> tensors_asked(const spec::System& system, spec::Asked asked);

/// Per tensor, who asked what of it: `capture h at net.cpp:3, stored h at net.cpp:4`; empty where nobody did.
[[nodiscard]] std::vector<std::string> wishes_by_tensor(const spec::System& system);

/// \throws SpecViolation where a tensor that is to be inlined is to be in memory too, by another wish or as an input or
/// output; one line that names both.
void check_wishes(const spec::System& system);

}  // namespace etalon::compiled
