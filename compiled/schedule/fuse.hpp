/// \file
/// Which equations share loops. It finds no memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiled/ir/plan.hpp"

namespace etalon::compiled {

/// The scatter that this equation is, if its value is a sum that is reached only where a read equals a binder.
[[nodiscard]] std::optional<Scatter> recognise_scatter(const spec::System& system, const spec::Equation& equation);

/// Every equation in exactly one kernel, in an order that computes what is read before it is read. A scheduled
/// contraction begins a kernel; what is done with its elements one by one may join it.
/// \param deciding what is given of it, if anything
/// \throws SpecViolation for an equation that cannot share the loops that are given
[[nodiscard]] std::vector<Kernel> fuse(const spec::System& system, const PlanOptions& options, std::span<const Decision> decisions,
                                       const Deciding* deciding = nullptr);

/// Which equations share which loops, as decisions: what `fuse` follows.
void take_kernels(Deciding& deciding, const spec::System& system, std::span<const Kernel> kernels);

}  // namespace etalon::compiled
