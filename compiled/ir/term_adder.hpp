/// \file
/// Instructions that add several terms of a sum of products at once: in each lane, those of as many neighbouring steps of the depth.
/// What they need of memory follows from the rows' equations; it knows no name of an instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiled/machine/instruction.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::compiled {

/// One of them: result[l] = sum[l] + left[terms·l + t]·right[terms·l + t] for all t < terms, in any order, as often rounded as there are equations.
struct TermAdder {
  const Instruction* instruction = nullptr;
  std::int64_t terms = 1;   ///< that a lane takes at once, which lie side by side
  std::int64_t lanes = 1;
  DType type = DType::f32;  ///< of sums
  DType held = DType::f32;  ///< of factors in memory
  std::array<std::size_t, 3> operands{};  ///< where left, right and the sum stand among the instruction's operands

  [[nodiscard]] friend bool operator==(const TermAdder& a, const TermAdder& b) { return a.instruction == b.instruction; }
};

/// The row as an adder; nothing where its equations have another form.
[[nodiscard]] std::optional<TermAdder> as_term_adder(const Instruction& i);
/// All rows of the table whose equations have that form, in its order.
[[nodiscard]] std::span<const TermAdder> term_adders();

/// The first that the machine has for sums of that type, whose lanes are the machine's, and whose use is within the promises: it may flush
/// where they flush, and factors of a wider type than it holds may be rounded to that where operands of products may.
/// \param left the type of the left factor's numbers, and \param right of the right one's
/// \returns null where there is none
[[nodiscard]] const TermAdder* term_adder(DType type, DType left, DType right, const Machine& machine, const spec::Contract& promises);

}  // namespace etalon::compiled
