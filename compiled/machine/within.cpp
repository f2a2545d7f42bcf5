#include "compiled/machine/within.hpp"

namespace etalon::compiled {

bool may_hold(DType from, DType held, int bits, const spec::Contract& promises) {
  const spec::Format narrow = spec::format_of(held), wide = spec::format_of(from);
  if (from == held && bits >= wide.precision) return true;
  const bool rounds = promises.product_operand_precision != 0 && promises.product_operand_precision <= bits;
  return rounds && narrow.emin <= wide.emin && promises.flush_operands && promises.flush_results;
}

bool is_within(const spec::Contract& row, const spec::Contract& promises) {
  return (!row.flush_operands || promises.flush_operands) && (!row.flush_results || promises.flush_results) &&
         (row.accumulation == spec::RoundingMode::nearest || promises.accumulation == spec::RoundingMode::toward_zero);
}

}  // namespace etalon::compiled
