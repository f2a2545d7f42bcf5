/// \file
/// Instructions found by the form of what is to be computed. It knows no name of an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiled/machine/instructions.hpp"
#include "spec/system/expr.hpp"

namespace etalon::compiled {

/// How often an expression is rounded.
enum class Rounding : std::uint8_t {
  each,  ///< after each of its operations
  once   ///< in the end
};

/// An instruction, and for each of its operands the expression that it stands for.
struct Selected {
  const Instruction* instruction = nullptr;
  std::vector<spec::Expr> operands;
};

/// The first instruction whose equation has the form of `e` in every lane; it is rounded as asked for. None that touches memory, fixes
/// the number of its lanes or is had by some machines of the kind only.
/// \returns nothing where the machine has none of those
[[nodiscard]] std::optional<Selected> select(const spec::Expr& e, Rounding rounding, const Machine& machine);

/// The instruction that gives numbers of one type as those of another, rounded once. \throws InternalError where there is none
[[nodiscard]] const Instruction& conversion(DType from, DType to);

}  // namespace etalon::compiled
