/// \file
/// Which real expressions of a plan are functions of one argument, as the form of the equations shows it, where inputs vary.
/// It knows no values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/bounds/plan.hpp"

namespace etalon::reference::bounds {

/// No operation: the expression does not vary, or it varies with more than one.
inline constexpr OperationId no_argument = -1;

/// Per operation of a plan and per tensor of its system.
struct Arguments {
  /// Of an expression that is not linear, the one operation whose value decides its own; it is not looked into. Wherever the
  /// expression is evaluated, the argument may be evaluated before it.
  std::vector<OperationId> argument;
  /// The first of the operations that read the same element.
  std::vector<OperationId> same;
  /// Whether a sum or a product around it would take it for terms or factors of its own.
  std::vector<std::uint8_t> opens;
  /// Tensors of which something is computed that is not linear.
  std::vector<std::uint8_t> bent;
};

/// \param varies per tensor of the system, of inputs whether they vary
[[nodiscard]] Arguments arguments_of(const spec::System& system, const Plan& plan, std::vector<std::uint8_t> varies);

}  // namespace etalon::reference::bounds
