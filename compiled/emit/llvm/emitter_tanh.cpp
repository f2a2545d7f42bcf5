// The hyperbolic tangent of f32: its vector library spends most of its time on the last tenth of a unit.
#include <array>

#include "compiled/emit/llvm/emitter.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

/// tanh(x) = x + x·z·P(z) with z = x², for x in [0, 1]; least largest error, 2^-31.3 of the result.
constexpr std::array near_zero{0x1.fd7c06p-14, -0x1.b8ff70p-11, 0x1.938472p-9, -0x1.19a50ap-7,
                               0x1.64ebc8p-6,  -0x1.b9fbdap-5,  0x1.11105ep-3, -0x1.555552p-2};
/// e^r = 1 + r + r²·Q(r), for |r| at most half the logarithm of 2.
constexpr std::array power{0x1.6d7f5ep-10, 0x1.1239a4p-7, 0x1.5554a2p-5, 0x1.55546ap-3, 0.5};
constexpr double per_log_2 = 0x1.715476p0;
constexpr double log_2_high = 0x1.62e400p-1;
constexpr double log_2_low = 0x1.7f7d1cp-20;
/// From here on 1 - 2/(e^2x + 1).
constexpr double far = 1;
/// The result is 1.
constexpr double farthest = 10;
constexpr std::uint64_t bits_of_fraction = 23;

}  // namespace

Value* Emitter::emit_tanh(Value* x) {
  llvm::Type* type = x->getType();
  const auto number = [&](double v) { return llvm::ConstantFP::get(type, v); };
  const auto polynomial = [&](const auto& coefficients, Value* at) {
    Value* sum = number(coefficients[0]);
    for (std::size_t i = 1; i < coefficients.size(); ++i) sum = fma(sum, at, number(coefficients[i]));
    return sum;
  };
  Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* square = builder_.CreateFMul(size, size);
  Value* small = fma(builder_.CreateFMul(size, square), polynomial(near_zero, square), size);

  Value* twice = builder_.CreateFMul(builder_.CreateBinaryIntrinsic(llvm::Intrinsic::minnum, size, number(farthest)), number(2));
  Value* n = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, builder_.CreateFMul(twice, number(per_log_2)));
  Value* minus_n = builder_.CreateFNeg(n);
  Value* r = fma(minus_n, number(log_2_low), fma(minus_n, number(log_2_high), twice));
  Value* e = builder_.CreateFAdd(fma(builder_.CreateFMul(r, r), polynomial(power, r), r), number(1));
  llvm::Type* bits = type->isVectorTy() ? llvm::cast<llvm::Type>(llvm::FixedVectorType::get(builder_.getInt32Ty(), width_)) : builder_.getInt32Ty();
  Value* exponent = builder_.CreateShl(builder_.CreateFPToSI(n, bits), llvm::ConstantInt::get(bits, bits_of_fraction));
  e = builder_.CreateBitCast(builder_.CreateAdd(builder_.CreateBitCast(e, bits), exponent), type);
  Value* large = builder_.CreateFSub(number(1), builder_.CreateFDiv(number(2), builder_.CreateFAdd(e, number(1))));

  Value* result = builder_.CreateSelect(builder_.CreateFCmpOLT(size, number(far)), small, large);
  result = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), x, result);
  return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace etalon::compiled
