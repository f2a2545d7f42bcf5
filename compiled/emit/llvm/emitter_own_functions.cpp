// Functions that are the compiler's own, step by step among a loop's instructions: to call one takes more time than its steps.
#include <string_view>
#include <unordered_map>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/machine/own_functions.hpp"

namespace etalon::compiled {

using llvm::Value;

namespace {

/// Added to a number of less than 2^22, it leaves the nearest whole one in the last bits.
constexpr double rounds = function_steps::rounds;
constexpr std::uint64_t bits_of_fraction = 23;
constexpr std::uint64_t bias = 127;

}  // namespace

Value* Emitter::emit_own(const OwnFunction& function, Value* x) {
  std::unordered_map<std::string_view, Value*> known{{"x", x}};
  Value* last = x;
  for (const FunctionStep& step : function.steps) {
    std::vector<Value*> operands;
    for (std::size_t i = 0; i < step.count(); ++i) {
      const StepOperand& o = step.operands[i];
      operands.push_back(o.name.empty() ? llvm::ConstantFP::get(x->getType(), o.number) : known.at(o.name));
    }
    last = known[step.result] = emit_step(step, operands);
  }
  return last;
}

Value* Emitter::emit_step(const FunctionStep& step, const std::vector<Value*>& of) {
  switch (step.verb.form) {
    case StepForm::row: return write(*step.verb.instruction, of[0]->getType(), of);
    case StepForm::lesser: return builder_.CreateSelect(builder_.CreateFCmpOLT(of[0], of[1]), of[0], of[1]);
    case StepForm::greater: return builder_.CreateSelect(builder_.CreateFCmpOGT(of[0], of[1]), of[0], of[1]);
    case StepForm::choose_below: return builder_.CreateSelect(builder_.CreateFCmpOLT(of[0], of[1]), of[2], of[3]);
    case StepForm::keep_nan: return builder_.CreateSelect(builder_.CreateFCmpUNO(of[0], of[0]), of[0], of[1]);
    case StepForm::with_sign: return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, of[0], of[1]);
    case StepForm::scaled: return emit_scaled(of[0], of[1]);
    case StepForm::scaled_exactly: return emit_scaled_exactly(of[0], of[1]);
    case StepForm::exponent: return emit_exponent(of[0]);
  }
  return nullptr;
}

Value* Emitter::emit_scaled(Value* e, Value* n) {
  llvm::Type* type = e->getType();
  constexpr unsigned native = 16;
  if (const Instruction& scale = instruction("vscalefps"); is_had_by(scale, machine_) && type->isVectorTy() && width_ % native == 0) {
    return in_pieces({e, n}, native, [&](const std::vector<Value*>& of) { return write(scale, of[0]->getType(), of); });
  }
  llvm::Type* bits = bits_of(type);
  const auto number = [&](std::uint64_t v) { return llvm::ConstantInt::get(bits, v); };
  Value* marked = builder_.CreateBitCast(builder_.CreateFAdd(n, llvm::ConstantFP::get(type, rounds)), bits);
  Value* whole = builder_.CreateSub(marked, builder_.CreateBitCast(llvm::ConstantFP::get(type, rounds), bits));
  Value* half = builder_.CreateAShr(whole, number(1));
  const auto two_to = [&](Value* exponent) {
    return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateAdd(exponent, number(bias)), number(bits_of_fraction)), type);
  };
  // The first product is exact.
  return builder_.CreateFMul(builder_.CreateFMul(e, two_to(half)), two_to(builder_.CreateSub(whole, half)));
}

Value* Emitter::emit_scaled_exactly(Value* e, Value* n) {
  llvm::Type* bits = bits_of(e->getType());
  Value* exponent = builder_.CreateShl(builder_.CreateFPToSI(n, bits), llvm::ConstantInt::get(bits, bits_of_fraction));
  return builder_.CreateBitCast(builder_.CreateAdd(builder_.CreateBitCast(e, bits), exponent), e->getType());
}

Value* Emitter::emit_exponent(Value* x) {
  llvm::Type* bits = bits_of(x->getType());
  const auto number = [&](std::uint64_t v) { return llvm::ConstantInt::get(bits, v); };
  Value* biased = builder_.CreateAnd(builder_.CreateLShr(builder_.CreateBitCast(x, bits), number(bits_of_fraction)), number(2 * bias + 1));
  return builder_.CreateSIToFP(builder_.CreateSub(biased, number(bias)), x->getType());
}

/// Integers of 32 bits, as many as there are numbers.
llvm::Type* Emitter::bits_of(llvm::Type* type) {
  return type->getWithNewType(builder_.getInt32Ty());
}

}  // namespace etalon::compiled
