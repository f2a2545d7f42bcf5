// The exponential: that of f32 stands between the loads and stores of a loop instead of being called, which takes more time
// than its fifteen operations; that of f64 is the vector library's, continued to the end of its range.
#include <array>

#include "compiled/emit/llvm/emitter.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

/// e^r = 1 + r·(1 + r·Q(r)), for |r| at most half the logarithm of 2; least largest error, 2^-28.2 of the result.
constexpr std::array power{0x1.6a2412p-10, 0x1.1239f6p-7, 0x1.5558f2p-5, 0x1.555492p-3, 0x1.fffffcp-2, 1.0, 1.0};
constexpr double per_log_2 = 0x1.715476p0;
constexpr double log_2_high = 0x1.62e400p-1;
constexpr double log_2_low = 0x1.7f7d1cp-20;
/// Added to a number of less than 2^22 and taken away again, it leaves the nearest whole one.
constexpr double rounds = 0x1.8p23;
/// e^x is beyond the largest number, or less than half the smallest one.
constexpr double highest = 89;
constexpr double lowest = -104;
constexpr std::uint64_t bits_of_fraction = 23;
constexpr std::uint64_t bias = 127;

}  // namespace

/// e·2^n, correctly rounded, for whole n in [-151, 129] and e about 1.
Value* Emitter::emit_scaled(Value* e, Value* n) {
  llvm::Type* type = e->getType();
  constexpr unsigned native = 16;
  if (const Instruction& scale = instruction("vscalefps"); is_had_by(scale, machine_) && type->isVectorTy() && width_ % native == 0) {
    return in_pieces({e, n}, native, [&](const std::vector<Value*>& of) { return write(scale, of[0]->getType(), of); });
  }
  llvm::Type* bits = type->isVectorTy() ? llvm::cast<llvm::Type>(llvm::FixedVectorType::get(builder_.getInt32Ty(), width_)) : builder_.getInt32Ty();
  const auto number = [&](std::uint64_t v) { return llvm::ConstantInt::get(bits, v); };
  Value* marked = builder_.CreateBitCast(builder_.CreateFAdd(n, llvm::ConstantFP::get(type, rounds)), bits);
  Value* whole = builder_.CreateSub(marked, builder_.CreateBitCast(llvm::ConstantFP::get(type, rounds), bits));
  Value* half = builder_.CreateAShr(whole, number(1));
  const auto two_to = [&](Value* exponent) {
    return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateAdd(exponent, number(bias)), number(bits_of_fraction)), type);
  };
  return builder_.CreateFMul(builder_.CreateFMul(e, two_to(half)), two_to(builder_.CreateSub(whole, half)));
}

Value* Emitter::emit_exp_f32(Value* x) {
  llvm::Type* type = x->getType();
  const auto number = [&](double v) { return llvm::ConstantFP::get(type, v); };
  // What is no number stays what it is.
  Value* within = builder_.CreateSelect(builder_.CreateFCmpOLT(number(highest), x), number(highest), x);
  within = builder_.CreateSelect(builder_.CreateFCmpOGT(number(lowest), within), number(lowest), within);
  Value* n = builder_.CreateFSub(fma(within, number(per_log_2), number(rounds)), number(rounds));
  Value* minus_n = builder_.CreateFNeg(n);
  Value* r = fma(minus_n, number(log_2_low), fma(minus_n, number(log_2_high), within));
  Value* e = number(power[0]);
  for (std::size_t i = 1; i < power.size(); ++i) e = fma(e, r, number(power[i]));
  return emit_scaled(e, n);
}

/// The library's exp in f64 is infinite from 1.7 millionths below where e^x overflows. From `far` on it is
/// e^far·(1 + d + d²/2) with d = x - far, an exact difference below 3·10^-6; e^far lies within 10^-4 ulp of a number.
Value* Emitter::emit_exp(Value* x, bool f64) {
  if (!f64 && machine_.has_vectors()) return emit_exp_f32(x);
  Value* near = emit_function(spec::Primitive::exp, {x}, f64);
  if (!f64) return near;
  const auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  constexpr double far = 0x1.62e42fdfc19e2p+9;
  constexpr double beyond_by = 0x1.ffffc07800a3bp+1023;
  Value* d = builder_.CreateFSub(x, number(far));
  Value* growth = builder_.CreateFAdd(d, builder_.CreateFMul(builder_.CreateFMul(d, d), number(0.5)));
  Value* beyond = builder_.CreateFAdd(number(beyond_by), builder_.CreateFMul(growth, number(beyond_by)));
  return builder_.CreateSelect(builder_.CreateFCmpOGT(x, number(far)), beyond, near);
}

}  // namespace etalon::compiled
