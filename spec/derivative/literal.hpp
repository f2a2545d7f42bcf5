/// \file
/// Derivatives as the rules give them, before any guard is solved: for explanation and for tests. Evaluating them
/// visits every combination of indices.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// As append_jvp, with the equations unsimplified.
std::vector<TensorId> append_literal_jvp(System& system, std::span<const TensorId> of, std::span<const TensorId> wrt,
                                         std::span<const TensorId> tangents);

/// As append_vjp, with the equations unsimplified.
std::vector<TensorId> append_literal_vjp(System& system, std::span<const TensorId> of,
                                         std::span<const TensorId> cotangents, std::span<const TensorId> wrt);

/// Names the reductions whose values a derivative needs, so that it does not repeat them.
/// \returns the number of equations then.
std::size_t name_for_derivative(System& system);

/// Names what derivative equations repeat and solves their guards, from equation `first` on.
void simplify_derivative(System& system, std::size_t first);

}  // namespace etalon::spec
