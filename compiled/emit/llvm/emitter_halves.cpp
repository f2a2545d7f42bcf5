// The 16-bit formats in memory: widened exactly, rounded once to nearest even, also from more bits than single precision has.
#include <llvm/IR/Constants.h>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/machine/selection.hpp"

namespace etalon::compiled {

using llvm::Value;

Value* Emitter::widened(Value* raw, DType dtype) { return write(conversion(dtype, DType::f32), raw->getType(), {raw}); }

/// An integer that a double holds: beyond 2^53 eleven bits give way to one that says whether any was set. Rounding that to a
/// format of at most 40 bits gives what rounding the integer would give.
Value* Emitter::with_odd_bit(Value* integer) {
  llvm::Type* type = integer->getType();
  constexpr std::uint64_t end = std::uint64_t{1} << 53;
  constexpr std::uint64_t low = 2047;
  Value* near = builder_.CreateICmpULE(builder_.CreateAdd(integer, all(type, end)), all(type, 2 * end));
  Value* some = builder_.CreateICmpNE(builder_.CreateAnd(integer, all(type, low)), all(type, 0));
  Value* last = builder_.CreateSelect(some, all(type, (low + 1) / 2), all(type, 0));
  Value* shortened = builder_.CreateOr(builder_.CreateAnd(integer, all(type, ~low)), last);
  return builder_.CreateSelect(near, integer, shortened);
}

/// Double precision to single, inexact results to the neighbour with an odd last bit: rounding that to a format at least
/// two bits shorter gives what rounding the double would give.
Value* Emitter::rounded_to_odd(Value* value) {
  const unsigned n = value->getType()->isVectorTy() ? width_ : 1;
  Value* nearest = convert(value, Type::f64, Type::f32);
  llvm::Type* bits_type = builder_.getInt32Ty();
  if (n > 1) bits_type = llvm::FixedVectorType::get(bits_type, n);
  Value* bits = builder_.CreateBitCast(nearest, bits_type);
  Value* back = convert(nearest, Type::f32, Type::f64);
  Value* inexact = builder_.CreateFCmpONE(back, value);
  Value* even = builder_.CreateICmpEQ(builder_.CreateAnd(bits, all(bits_type, 1)), all(bits_type, 0));
  const auto size = [&](Value* x) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
  Value* below = builder_.CreateFCmpOLT(size(back), size(value));
  Value* other = builder_.CreateSelect(below, builder_.CreateAdd(bits, all(bits_type, 1)),
                                       builder_.CreateSub(bits, all(bits_type, 1)));
  Value* odd = builder_.CreateSelect(builder_.CreateAnd(inexact, even), other, bits);
  return builder_.CreateBitCast(odd, nearest->getType());
}

Value* Emitter::narrowed(Value* value, Type type, DType dtype) {
  if (type == Type::f64) value = rounded_to_odd(value);
  return write(conversion(DType::f32, dtype), value->getType(), {value});
}

}  // namespace etalon::compiled
