#include <algorithm>
#include <limits>

#include <llvm/Analysis/VectorUtils.h>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/ir/language.hpp"
#include "spec/philox.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

}  // namespace

/// Unsigned 32-bit division by a constant: machines have vector multiplications for it, and none for 64 bits.
Value* Emitter::emit_narrow_division(Primitive p, Value* a, std::int64_t divisor) {
  llvm::Type* wide = a->getType();
  llvm::Type* narrow = wide->getWithNewBitWidth(32);
  Value* n = builder_.CreateTrunc(a, narrow);
  llvm::Constant* d = all(narrow, static_cast<std::uint64_t>(divisor));
  Value* r = p == Primitive::floor_div ? builder_.CreateUDiv(n, d) : builder_.CreateURem(n, d);
  return builder_.CreateZExt(r, wide);
}

/// The lanes' own numbers divided by what divides the width: the first lane's number is a multiple of it.
Value* Emitter::emit_lane_division(Primitive p, std::int64_t divisor) {
  const auto d = static_cast<unsigned>(divisor);
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < width_; ++i) lanes.push_back(builder_.getInt64(p == Primitive::floor_div ? i / d : i % d));
  llvm::Constant* own = llvm::ConstantVector::get(lanes);
  if (p == Primitive::modulo) return own;
  return builder_.CreateAdd(splat(builder_.CreateUDiv(values_.at(lane_variable_), builder_.getInt64(d))), own);
}

Value* Emitter::emit_division(const Expr& e, Value* a, Value* b) {
  const bool quotient = e.is(Primitive::floor_div);
  llvm::Type* t = a->getType();
  const Expr& divisor = e->args[1];
  if (divisor.form() == spec::Form::number && divisor->number.mantissa > 0) {
    const std::int64_t d = divisor->number.mantissa;
    const bool of_lanes = whole_ && !at_base_ && e->args[0].form() == spec::Form::variable && e->args[0]->variable == lane_variable_;
    if (of_lanes && width_ % d == 0) return emit_lane_division(e->primitive, d);
    if (is_power_of_two(d)) {
      const auto shift = static_cast<std::uint64_t>(__builtin_ctzll(static_cast<std::uint64_t>(d)));
      return quotient ? builder_.CreateAShr(a, all(t, shift)) : builder_.CreateAnd(a, all(t, static_cast<std::uint64_t>(d - 1)));
    }
    const auto range = loops::range_of(e->args[0], extents_);
    if (range && range->first >= 0 && range->second <= INT32_MAX && d <= INT32_MAX) {
      return emit_narrow_division(e->primitive, a, d);
    }
  }
  // Division by zero and the overflow of the smallest number by -1 must not trap; their results are wrapped values.
  Value* zero = llvm::Constant::getNullValue(t);
  Value* minus_one = llvm::Constant::getAllOnesValue(t);
  Value* special = builder_.CreateOr(builder_.CreateICmpEQ(b, zero), builder_.CreateICmpEQ(b, minus_one));
  Value* safe = builder_.CreateSelect(special, all(t, 1), b);
  Value* q = builder_.CreateSDiv(a, safe);
  Value* r = builder_.CreateSub(a, builder_.CreateMul(q, safe));
  Value* off = builder_.CreateAnd(builder_.CreateICmpNE(r, zero),
                                  builder_.CreateICmpSLT(builder_.CreateXor(r, safe), zero));
  q = builder_.CreateSub(q, builder_.CreateZExt(off, t));
  r = builder_.CreateAdd(r, builder_.CreateSelect(off, safe, zero));
  Value* by_minus_one = builder_.CreateICmpEQ(b, minus_one);
  q = builder_.CreateSelect(builder_.CreateICmpEQ(b, zero), zero, q);
  return quotient ? builder_.CreateSelect(by_minus_one, builder_.CreateNeg(a), q)
                  : builder_.CreateSelect(special, zero, r);
}

/// The remainder with the divisor's sign: fmod is exact, so that there is at most the rounding of the last addition.
Value* Emitter::emit_remainder(Value* a, Value* b) {
  Value* zero = llvm::ConstantFP::get(a->getType(), 0.0);
  Value* r = builder_.CreateFRem(a, b);
  Value* apart = builder_.CreateXor(builder_.CreateFCmpOLT(r, zero), builder_.CreateFCmpOLT(b, zero));
  Value* none = builder_.CreateFCmpOEQ(r, zero);
  Value* moved = builder_.CreateSelect(apart, builder_.CreateFAdd(r, b), r);
  return builder_.CreateSelect(none, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, r, b), moved);
}

/// The library's exp in f64 is infinite from 1.7 millionths below where e^x overflows. From `far` on it is
/// e^far·(1 + d + d²/2) with d = x - far, an exact difference below 3·10^-6; e^far lies within 10^-4 ulp of a number.
Value* Emitter::emit_exp(Value* x, bool f64) {
  Value* near = emit_function(Primitive::exp, {x}, f64);
  if (!f64) return near;
  const auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  constexpr double far = 0x1.62e42fdfc19e2p+9;
  constexpr double beyond_by = 0x1.ffffc07800a3bp+1023;
  Value* d = builder_.CreateFSub(x, number(far));
  Value* growth = builder_.CreateFAdd(d, builder_.CreateFMul(builder_.CreateFMul(d, d), number(0.5)));
  Value* beyond = builder_.CreateFAdd(number(beyond_by), builder_.CreateFMul(growth, number(beyond_by)));
  return builder_.CreateSelect(builder_.CreateFCmpOGT(x, number(far)), beyond, near);
}

/// sinh and cosh: the library gives up where e^|x| overflows, a little before they do. From `far` on both are
/// e^(|x| - shift) · factor with factor = e^shift / 2: shift is chosen so that the difference is exact and factor lies
/// within 10^-4 ulp of a number, which leaves the error of exp and one rounding.
Value* Emitter::emit_hyperbolic(Primitive p, Value* x, bool f64) {
  const auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  const double far = f64 ? 709 : 88;
  const double shift = f64 ? 0x1.67607775d04p-1 : 0x1.0d878p+1;
  const double factor = f64 ? 0x1.0240a977a4fafp+0 : 0x1.06cf82p+2;
  Value* near = emit_function(p, {x}, f64);
  Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* power = emit_function(Primitive::exp, {builder_.CreateFSub(size, number(shift))}, f64);
  Value* beyond = builder_.CreateFMul(power, number(factor));
  if (p == Primitive::sinh) beyond = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, beyond, x);
  return builder_.CreateSelect(builder_.CreateFCmpOGT(size, number(far)), beyond, near);
}

/// The library's log1p is infinite before the largest numbers are reached; there 1 does not count.
Value* Emitter::emit_log1p(Value* x, bool f64) {
  Value* far = builder_.CreateFCmpOGT(x, llvm::ConstantFP::get(x->getType(), 0x1p100));
  return builder_.CreateSelect(far, emit_function(Primitive::log, {x}, f64), emit_function(Primitive::log1p, {x}, f64));
}

/// The library's pow in f64 stops where its exp does. Where it is infinite, the power is the square of |x|^(y/2), infinite
/// or not: with twice the error, and one rounding. A y whose half is 0 says nothing.
Value* Emitter::emit_power(Value* x, Value* y, bool f64) {
  Value* near = emit_function(Primitive::pow, {x, y}, f64);
  if (!f64) return near;
  const auto number = [&](double v) { return llvm::ConstantFP::get(x->getType(), v); };
  Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* half = emit_function(Primitive::pow, {size, builder_.CreateFMul(y, number(0.5))}, f64);
  Value* beyond = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, builder_.CreateFMul(half, half), near);
  Value* infinite = builder_.CreateFCmpOEQ(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, near),
                                           number(std::numeric_limits<double>::infinity()));
  Value* large = builder_.CreateFCmpOGT(half, number(0x1p511));
  return builder_.CreateSelect(builder_.CreateAnd(infinite, large), beyond, near);
}

/// Philox4x32-10: key = seed (low, high), counter = (low, high of n // 4, step, stream), word n % 4.
Value* Emitter::emit_philox(const std::vector<Value*>& args) {
  llvm::Type* wide = args[3]->getType();
  llvm::Constant* low_bits = all(wide, 0xFFFFFFFFU);
  const auto low = [&](Value* v) { return builder_.CreateAnd(v, low_bits); };
  const auto high = [&](Value* v) { return builder_.CreateLShr(v, all(wide, 32)); };
  Value* block = builder_.CreateLShr(args[3], all(wide, 2));
  Value* c[4] = {low(block), high(block), low(args[1]), low(args[2])};
  Value* k[2] = {low(args[0]), high(args[0])};
  for (int round = 0; round < spec::philox_rounds; ++round) {
    Value* p0 = builder_.CreateMul(c[0], all(wide, spec::philox_multipliers[0]));
    Value* p1 = builder_.CreateMul(c[2], all(wide, spec::philox_multipliers[1]));
    Value* next0 = builder_.CreateXor(builder_.CreateXor(high(p1), c[1]), k[0]);
    Value* next2 = builder_.CreateXor(builder_.CreateXor(high(p0), c[3]), k[1]);
    c[0] = next0;
    c[1] = low(p1);
    c[2] = next2;
    c[3] = low(p0);
    k[0] = low(builder_.CreateAdd(k[0], all(wide, spec::philox_weyl[0])));
    k[1] = low(builder_.CreateAdd(k[1], all(wide, spec::philox_weyl[1])));
  }
  Value* word = builder_.CreateAnd(args[3], all(wide, 3));
  Value* upper = builder_.CreateSelect(builder_.CreateICmpEQ(word, all(wide, 3)), c[3], c[2]);
  Value* lower = builder_.CreateSelect(builder_.CreateICmpEQ(word, all(wide, 1)), c[1], c[0]);
  return builder_.CreateSelect(builder_.CreateICmpUGE(word, all(wide, 2)), upper, lower);
}

/// Calls the library in its own number of lanes.
Value* Emitter::emit_function(Primitive p, std::vector<Value*> args, bool f64) {
  llvm::Type* element = f64 ? builder_.getDoubleTy() : builder_.getFloatTy();
  const bool vector = args[0]->getType()->isVectorTy();
  const unsigned native = !vector ? 1 : machine_.lanes_f32 / (f64 ? 2 : 1);
  llvm::Type* type = vector ? llvm::cast<llvm::Type>(llvm::FixedVectorType::get(element, native)) : element;
  const std::vector<llvm::Type*> types(args.size(), type);
  llvm::FunctionCallee callee =
      module_.getOrInsertFunction(sleef_name(p, f64, native, machine_), llvm::FunctionType::get(type, types, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->setDoesNotThrow();
  f->setDoesNotAccessMemory();
  f->setWillReturn();
  return in_pieces(args, native, [&](const std::vector<Value*>& of) { return builder_.CreateCall(callee, of); });
}

/// What `make` gives for vectors of `native` lanes, for those of ours, which are filled up or cut; scalars are made as they are.
Value* Emitter::in_pieces(const std::vector<Value*>& args, unsigned native, const std::function<Value*(const std::vector<Value*>&)>& make) {
  if (!args[0]->getType()->isVectorTy() || native == width_) return make(args);
  std::vector<Value*> parts;
  for (unsigned begin = 0; begin < std::max(width_, native); begin += native) {
    std::vector<int> lanes;
    for (unsigned i = 0; i < native; ++i) lanes.push_back(static_cast<int>(std::min(begin + i, width_ - 1)));
    std::vector<Value*> part;
    for (Value* a : args) part.push_back(builder_.CreateShuffleVector(a, lanes));
    parts.push_back(make(part));
  }
  return builder_.CreateShuffleVector(llvm::concatenateVectors(builder_, parts), llvm::createSequentialMask(0, width_, 0));
}

}  // namespace etalon::compiled
