/// \file
/// Symbolic derivatives of systems: equations in, equations out, closed under repetition. By form, not by name.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// Appends the equations of the tangents of `of` to the system, given tangents of `wrt` (tensors of equal shape
/// that are inputs or defined before). A `wrt` may be any real tensor of the system, also a local: it is then
/// treated as an independent variable.
/// Existing reductions whose value is needed are named first, so earlier equations may be split; values stay.
/// \returns one tangent per element of `of`; it is a defined all-zero tensor where nothing depends.
[[nodiscard]] std::vector<TensorId> append_jvp(System& system, std::span<const TensorId> of,
                                               std::span<const TensorId> wrt, std::span<const TensorId> tangents);

/// Appends the equations of the cotangents of `wrt`, given cotangents of `of`: the transpose of append_jvp.
/// \returns one cotangent per element of `wrt`; exactly zero where there is no path.
[[nodiscard]] std::vector<TensorId> append_vjp(System& system, std::span<const TensorId> of,
                                               std::span<const TensorId> cotangents, std::span<const TensorId> wrt);

/// The system whose inputs are those of `primal` and one tangent per `wrt` (positions among the inputs), whose
/// outputs are those of `primal` and the tangents of its real outputs. Tangents are named `x'`.
[[nodiscard]] System jvp(const System& primal, std::span<const std::size_t> wrt);

/// The system whose inputs are those of `primal` and one cotangent per real output, whose outputs are those of
/// `primal` and the cotangents of the `wrt` inputs. Cotangents are named `x~`.
[[nodiscard]] System vjp(const System& primal, std::span<const std::size_t> wrt);

}  // namespace etalon::spec
