// The 16-bit formats in memory: widened exactly, rounded once to nearest even. Integers and single precision alone, so
// that every machine gives the same bits and no library function is called.
#include <llvm/IR/Constants.h>

#include "compiled/emit/llvm/emitter.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

constexpr std::uint64_t sign_bit = 0x80000000U;
constexpr std::uint64_t infinity_bits = 0x7f800000U;

/// The constant in every lane of a type.
llvm::Constant* all(llvm::Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

}  // namespace

/// Exact: both formats are parts of binary32, binary16 after its exponent is moved by 112.
Value* Emitter::widened(Value* raw, DType dtype) {
  llvm::Type* bits = raw->getType()->getWithNewBitWidth(32);
  llvm::Type* real = llvm_type(Type::f32, raw->getType()->isVectorTy() ? width_ : 1);
  Value* wide = builder_.CreateZExt(raw, bits);
  if (dtype == DType::bf16) return builder_.CreateBitCast(builder_.CreateShl(wide, 16), real);
  Value* size = builder_.CreateShl(builder_.CreateAnd(wide, all(bits, 0x7fffU)), 13);
  Value* moved = builder_.CreateFMul(builder_.CreateBitCast(size, real), llvm::ConstantFP::get(real, 0x1p112));
  Value* special = builder_.CreateICmpUGE(size, all(bits, 0x7c00U << 13U));
  Value* value = builder_.CreateSelect(special, builder_.CreateOr(size, all(bits, infinity_bits)),
                                       builder_.CreateBitCast(moved, bits));
  Value* sign = builder_.CreateShl(builder_.CreateAnd(wide, all(bits, 0x8000U)), 16);
  return builder_.CreateBitCast(builder_.CreateOr(value, sign), real);
}

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
  Value* nearest = builder_.CreateFPTrunc(value, llvm_type(Type::f32, n));
  llvm::Type* bits_type = builder_.getInt32Ty();
  if (n > 1) bits_type = llvm::FixedVectorType::get(bits_type, n);
  Value* bits = builder_.CreateBitCast(nearest, bits_type);
  Value* back = builder_.CreateFPExt(nearest, value->getType());
  Value* inexact = builder_.CreateFCmpONE(back, value);
  Value* even = builder_.CreateICmpEQ(builder_.CreateAnd(bits, all(bits_type, 1)), all(bits_type, 0));
  const auto size = [&](Value* x) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); };
  Value* below = builder_.CreateFCmpOLT(size(back), size(value));
  Value* other = builder_.CreateSelect(below, builder_.CreateAdd(bits, all(bits_type, 1)),
                                       builder_.CreateSub(bits, all(bits_type, 1)));
  Value* odd = builder_.CreateSelect(builder_.CreateAnd(inexact, even), other, bits);
  return builder_.CreateBitCast(odd, nearest->getType());
}

/// The 16 bits of the nearest number, ties to even; the carry of a rounding moves into the exponent and at the largest
/// numbers into infinity. NaN stays NaN and keeps its sign.
Value* Emitter::narrowed(Value* value, Type type, DType dtype) {
  if (type == Type::f64) value = rounded_to_odd(value);
  const unsigned n = value->getType()->isVectorTy() ? width_ : 1;
  llvm::Type* bits_type = builder_.getInt32Ty();
  if (n > 1) bits_type = llvm::FixedVectorType::get(bits_type, n);
  const auto number = [&](std::uint64_t x) { return all(bits_type, x); };
  Value* bits = builder_.CreateBitCast(value, bits_type);
  Value* sign = builder_.CreateLShr(builder_.CreateAnd(bits, number(sign_bit)), 16);
  Value* size = builder_.CreateAnd(bits, number(sign_bit - 1));
  Value* is_nan = builder_.CreateICmpUGT(size, number(infinity_bits));
  // Adding just under half a unit, or half of one to an odd number, carries exactly when nearest even is above.
  const auto shortened = [&](unsigned dropped, std::uint64_t bias) {
    Value* last = builder_.CreateAnd(builder_.CreateLShr(size, dropped), number(1));
    Value* up = builder_.CreateAdd(builder_.CreateAdd(size, number((1U << (dropped - 1U)) - 1U)), last);
    return builder_.CreateLShr(builder_.CreateSub(up, number(bias)), dropped);
  };
  Value* result = nullptr;
  if (dtype == DType::bf16) {
    result = builder_.CreateSelect(is_nan, number(0x7fc0U), shortened(16, 0));
  } else {
    // Below the normal numbers the last place is 2^-24, that of 0.5 in single precision: the addition rounds.
    llvm::Type* real = value->getType();
    Value* sum = builder_.CreateFAdd(builder_.CreateBitCast(size, real), llvm::ConstantFP::get(real, 0.5));
    Value* small = builder_.CreateSub(builder_.CreateBitCast(sum, bits_type), number(0x3f000000U));
    Value* is_small = builder_.CreateICmpULT(size, number(0x38800000U));
    result = builder_.CreateSelect(is_small, small, shortened(13, std::uint64_t{112} << 23U));
    result = builder_.CreateSelect(builder_.CreateICmpUGE(size, number(0x47800000U)), number(0x7c00U), result);
    result = builder_.CreateSelect(is_nan, number(0x7e00U), result);
  }
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), bits_type->getWithNewBitWidth(16));
}

}  // namespace etalon::compiled
