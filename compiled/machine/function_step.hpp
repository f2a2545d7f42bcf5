/// \file
/// Functions of one real number as lists of steps: instructions of the table, and a few that no equation of the notation says. Whoever
/// makes code walks a list once, in order. It knows no function.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "compiled/machine/instruction.hpp"

namespace etalon::compiled {

/// What a step does with its operands a, b, c and d.
enum class StepForm : std::uint8_t {
  row,             ///< a row of the table of instructions
  lesser,          ///< a < b ? a : b, so b where one is NaN
  greater,         ///< a > b ? a : b, so b where one is NaN
  choose_below,    ///< a < b ? c : d
  keep_nan,        ///< a where that is NaN, else b
  with_sign,       ///< a with b's sign
  scaled,          ///< a·2^b, rounded once, for whole b in [-151, 129] and a about 1; NaN where a is
  scaled_exactly,  ///< a·2^b, for whole b, where a and that are normal numbers; elsewhere some number or other
  exponent,        ///< of a, where that is a normal number; elsewhere from -127 to 128
};

/// A form, and of `row` the instruction.
struct StepVerb {
  StepForm form = StepForm::row;
  const Instruction* instruction = nullptr;
};

/// The operand of the function, by the name `x`; the result of a step before, by its name; or a number.
struct StepOperand {
  constexpr StepOperand() = default;
  constexpr StepOperand(const char* of) : name(of), is_given(true) {}        // NOLINT: it stands for the operand
  constexpr StepOperand(double value) : number(value), is_given(true) {}     // NOLINT
  std::string_view name;  ///< empty where it is a number
  double number = 0;
  bool is_given = false;
};

/// One step. A name that is given again stands for the later result from there on.
struct FunctionStep {
  std::string_view result;
  StepVerb verb;
  std::array<StepOperand, 4> operands{};

  [[nodiscard]] constexpr std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(operands, &StepOperand::is_given));
  }
};

/// Whether each name stands for something where it is read, and each number is one of single precision or none.
[[nodiscard]] constexpr bool is_well_formed(std::span<const FunctionStep> steps) {
  for (std::size_t n = 0; n < steps.size(); ++n) {
    for (const StepOperand& o : steps[n].operands) {
      if (!o.is_given) continue;
      const auto known = [&](const FunctionStep& before) { return before.result == o.name; };
      const bool stands = o.name.empty() ? o.number != o.number || static_cast<double>(static_cast<float>(o.number)) == o.number
                                         : o.name == "x" || std::ranges::any_of(steps.first(n), known);
      if (!stands) return false;
    }
  }
  return !steps.empty();
}

}  // namespace etalon::compiled
