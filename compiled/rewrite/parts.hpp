/// \file
/// The sum of the parts of a long sum, written out.
#pragma once

#include <cstdint>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::compiled {

/// parts[0, place…] + parts[1, place…] + … for `count` parts, as a balanced tree.
[[nodiscard]] spec::Expr sum_of_parts(const spec::System& system, spec::TensorId parts, const std::vector<spec::Expr>& place, std::int64_t count);

}  // namespace etalon::compiled
