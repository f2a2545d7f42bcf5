/// \file
/// Whether what an instruction keeps of its arithmetic is within what a program promises. It knows no row.
#pragma once

#include "spec/contract/contract.hpp"
#include "spec/dtype.hpp"

namespace etalon::compiled {

/// Whether numbers of one type may stand as those of another, of so many bits, where products have them as operands. Below the normal
/// numbers bits are lost that only flushing admits, of operands and, since an operand may be computed, of
/// results.
[[nodiscard]] bool may_hold(DType from, DType held, int bits, const spec::Contract& promises);

/// Whether an instruction with that contract rounds, flushes and cuts off no more than is promised.
[[nodiscard]] bool is_within(const spec::Contract& row, const spec::Contract& promises);

}  // namespace etalon::compiled
