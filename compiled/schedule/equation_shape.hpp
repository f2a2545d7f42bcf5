/// \file
/// What sharing loops needs to know of an equation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"

namespace etalon::compiled {

/// Its loops, its reads and its size.
struct EquationShape {
  std::vector<std::int64_t> extents;  ///< of its binders
  std::vector<spec::Expr> reads;            ///< every read that stands in it
  bool reduces = false;
  std::size_t nodes = 0;
  bool heavy = false;  ///< touches elements many times: worth loops of its own
};

[[nodiscard]] EquationShape shape_of(const spec::System& system, const spec::Equation& equation);

/// How many tensors of its size what follows a contraction element by element reads and writes in memory.
[[nodiscard]] std::size_t tensors_beside(const System& system, const Uses& uses, std::size_t contraction);

}  // namespace etalon::compiled
