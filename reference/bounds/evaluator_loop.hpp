/// \file
/// The loop over binders that both halves of the evaluator use.
#pragma once

#include "reference/bounds/evaluator.hpp"

namespace etalon::reference::bounds {

/// Runs `body` for every value of the binders, the last one fastest, while it returns true.
template <class R>
template <class Body>
void Evaluator<R>::loop(std::span<const spec::Binder> binders, const Body& body) {
  for (const spec::Binder& b : binders) {
    if (b.extent <= 0) return;
    variables_[static_cast<std::size_t>(b.variable)] = 0;
  }
  while (body()) {
    if (interruptible_ != nullptr) interruptible_->ask();
    std::size_t axis = binders.size();
    while (axis > 0) {
      std::int64_t& v = variables_[static_cast<std::size_t>(binders[axis - 1].variable)];
      if (++v < binders[axis - 1].extent) break;
      v = 0;
      --axis;
    }
    if (axis == 0) break;
  }
  // Places of decisions are made of all variables: those out of scope read as 0.
  for (const spec::Binder& b : binders) variables_[static_cast<std::size_t>(b.variable)] = 0;
}

}  // namespace etalon::reference::bounds
