/// \file
/// Factors into sums: c·(sum of t) as the sum of c·t.
#pragma once

#include <optional>

#include "spec/system/system.hpp"

namespace etalon::conformance {

/// Each product of one sum over binders and of other factors as the sum of products.
/// Source: Keras' and Flax' attention, whose queries are scaled before the scores are added up; means of divided terms
/// (Eigen, TensorFlow Lite).
[[nodiscard]] std::optional<spec::System> with_factors_inside(const spec::System& system);

/// c·(sum of a·b) as the sum of (√c·a)·(√c·b): the same number where c is not negative.
/// Source: PyTorch's attention without a fused kernel, which scales queries and keys by the root of the scale.
[[nodiscard]] std::optional<spec::System> with_roots_of_factors_inside(const spec::System& system);

/// What every term of a sum over binders is multiplied by, and no binder is part of, before the sum: once for all terms.
/// Source: PyTorch's `dotp * invstd`.
[[nodiscard]] std::optional<spec::System> with_factors_outside(const spec::System& system);

/// a·t ± b·t as (a ± b)·t.
/// Source: slopes that are computed first and meet the tangent or cotangent last: every handwritten derivative.
[[nodiscard]] std::optional<spec::System> with_common_factors(const spec::System& system);

/// (a - b)·c as a·c - b·c where b is shared by several a: an affine map of each element, its scale and shift by row.
/// Source: PyTorch's `x * scale + shift` of normalisations, `grad * output - output * sum` of softmax.
[[nodiscard]] std::optional<spec::System> with_affine_maps(const spec::System& system);

}  // namespace etalon::conformance
