/// \file
/// The single steps that make a case smaller or simpler, the largest first. It asks nobody.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/assignment.hpp"
#include "spec/host_tensor.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// Assignments with fewer pack members, shorter rows, smaller extents, optional operands left out, and attributes at
/// their defaults or nearer to 0.
[[nodiscard]] std::vector<Assignment> smaller_assignments(const spec::Definition& definition, const Assignment& a);

/// Numbers that are simpler than this one: small integers, then fewer digits.
[[nodiscard]] std::vector<double> simpler_values(double v, DType dtype);

/// The elements that lie in both shapes keep their place, counted from the first or from the last; others become 1.
[[nodiscard]] HostTensor cropped(const HostTensor& old, const Dims& dims, bool from_last);

}  // namespace etalon::conformance
