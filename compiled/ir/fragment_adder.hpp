/// \file
/// Instructions by which the threads of a warp add a small product of matrices to another matrix, of which each thread holds a fragment.
/// Their sizes and types are read off the rows' equations; it knows no name of an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compiled/machine/instruction.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::compiled {

/// One of them: y[i, j] = c[i, j] + sum[k] a[i, k]·b[k, j], whose operands are a, b and c in this order.
struct FragmentAdder {
  const Instruction* instruction = nullptr;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t terms = 1;   ///< of k
  DType type = DType::f32;  ///< of sums
  DType held = DType::f32;  ///< of factors
  int bits = 0;             ///< of a factor that are read

  [[nodiscard]] friend bool operator==(const FragmentAdder& a, const FragmentAdder& b) { return a.instruction == b.instruction; }
};

/// The row as one of them; nothing where its equations have another form.
[[nodiscard]] std::optional<FragmentAdder> as_fragment_adder(const Instruction& i);
/// All rows of the table whose equations have that form, in its order.
[[nodiscard]] std::span<const FragmentAdder> fragment_adders();

/// The first that the machine has for sums of that type, and whose use is within the promises.
/// \param left the type of the left factor's numbers, and \param right of the right one's
/// \returns null where there is none
[[nodiscard]] const FragmentAdder* fragment_adder(DType type, DType left, DType right, const Machine& machine, const spec::Contract& promises);

}  // namespace etalon::compiled
