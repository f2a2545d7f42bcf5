/// \file
/// Recurrences: tensors whose equations read each other, computed step by step along one axis. It finds and proves
/// them and brings their equations together; it changes no equation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spec/system/system.hpp"

namespace etalon::spec {

/// One equation of a recurrence: at step s it runs with its binder number `binder` at s, which is the index of its
/// target on `axis`.
struct RecurrentEquation {
  std::size_t equation = 0;
  std::size_t axis = 0;
  std::size_t binder = 0;
};

/// Equations that stand together. For every step, from 0 up or (`backwards`) from the last down, they run in their
/// order; each reads the targets of the recurrence at earlier steps, or at the same step if all equations of that
/// target stand before it.
struct Recurrence {
  std::vector<RecurrentEquation> equations;
  std::int64_t steps = 0;
  bool backwards = false;
};

/// The equations whose targets depend on themselves, one group per set of targets that depend on each other; groups
/// and positions ascend. Nothing is proved.
[[nodiscard]] std::vector<std::vector<std::size_t>> recurrent_groups(const System& system);

/// The recurrences of a system, in its order.
/// \throws SpecViolation naming the tensor where no axis is proved along which every read is of an earlier step.
[[nodiscard]] std::vector<Recurrence> recurrences(const System& system);

/// Moves equations, as few as needed, so that those of a recurrence stand together and after what they read.
void order_equations(System& system);

/// Whether an expression reads one of the marked tensors.
[[nodiscard]] bool reads_any(const Expr& e, const std::vector<bool>& marked);

}  // namespace etalon::spec
