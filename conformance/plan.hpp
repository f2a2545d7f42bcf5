/// \file
/// What a run asks, as units of work with quotas that depend on the tier alone. It asks nobody.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/conform.hpp"

namespace etalon::conformance {

/// Cases of one operation, check and element type.
struct Unit {
  std::string operation;
  Check check = Check::value;
  DType dtype = DType::f32;
  std::size_t least_cases = 1;  ///< at least so many cases, and then
  std::size_t most_cases = 1;   ///< more of them until
  std::size_t elements = 0;     ///< so many elements were compared
};

/// All units that the options select, ordered by operation.
[[nodiscard]] std::vector<Unit> plan(const ConformOptions& options);

/// Without the units that the backend's description rules out: operations, element types and modes that it does not list,
/// layouts and rejections that it does not promise.
[[nodiscard]] std::vector<Unit> offered(std::vector<Unit> units, const spec::Description& description);

/// The modes that a check belongs to for `--modes`.
[[nodiscard]] bool belongs(Check check, spec::Mode mode);

}  // namespace etalon::conformance
