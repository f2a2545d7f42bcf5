#include "compiled/emit/llvm/emitter.hpp"

#include <algorithm>

#include "compiled/ir/language.hpp"
#include "compiled/machine/own_functions.hpp"
#include "compiled/machine/selection.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using llvm::Value;

Emitter::Emitter(llvm::Module& module, llvm::Function& function, const spec::System& system, const Machine& machine, InstructionWriter& writer)
    : module_(module), function_(function), system_(system), machine_(machine), writer_(writer), builder_(module.getContext()),
      arithmetic_(system, [this](spec::VariableId v) {
        const auto it = values_.find(v);
        return it != values_.end() && it->second->getType()->getScalarType()->isFloatTy();
      }) {}

void Emitter::bind(spec::VariableId v, Value* value, std::int64_t extent) {
  values_[v] = value;
  extents_[v] = extent;
  forget();
}

void Emitter::define(loops::Register r, Value* value) { values_[r] = value; }

void Emitter::enter_lanes(spec::VariableId v, Value* base, unsigned width, Value* tail, bool whole) {
  lane_variable_ = v;
  whole_ = whole;
  width_ = width;
  lane_numbers_ = builder_.CreateAdd(splat(base), builder_.CreateStepVector(llvm_type(Type::i64, width)));
  tail_ = tail;
  forget();
}

void Emitter::leave_lanes() {
  lane_variable_ = -1;
  lane_numbers_ = nullptr;
  tail_ = nullptr;
  width_ = 1;
  forget();
}

// --- types ---

llvm::Type* Emitter::llvm_type(Type type, unsigned width) {
  llvm::Type* t = nullptr;
  switch (type) {
    case Type::f32: t = builder_.getFloatTy(); break;
    case Type::f64: t = builder_.getDoubleTy(); break;
    case Type::i64: t = builder_.getInt64Ty(); break;
    case Type::boolean: t = builder_.getInt1Ty(); break;
  }
  if (width == 1) return t;
  return llvm::FixedVectorType::get(t, width);
}

bool Emitter::varies(const Expr& e) const {
  if (e.form() == Form::variable) {
    if (e->variable == lane_variable_) return !at_base_;
    const auto it = values_.find(e->variable);
    return it != values_.end() && is_vector(it->second);
  }
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return varies(a); });
}

Value* Emitter::convert(Value* value, Type from, Type to) {
  if (from == to) return value;
  if (from > Type::f64 || to > Type::f64) throw InternalError("codegen: no such conversion");
  const auto dtype = [](Type type) { return type == Type::f32 ? DType::f32 : DType::f64; };
  return write(conversion(dtype(from), dtype(to)), value->getType(), {value});
}

Value* Emitter::rounded(Value* value, Type type, DType dtype) {
  switch (dtype) {
    case DType::f32: return convert(value, type, Type::f32);
    case DType::f64: return convert(value, type, Type::f64);
    case DType::f16:
    case DType::bf16: return widened(narrowed(value, type, dtype), dtype);
    case DType::i32: {
      llvm::Type* wide = value->getType();
      llvm::Type* narrow = wide->getWithNewBitWidth(32);
      return builder_.CreateSExt(builder_.CreateTrunc(value, narrow), wide);
    }
    default: return value;
  }
}

// --- lanes ---

Value* Emitter::splat(Value* scalar) {
  if (width_ == 1 || is_vector(scalar)) return scalar;
  return builder_.CreateVectorSplat(width_, scalar);
}

void Emitter::unify(Value*& a, Value*& b) {
  if (is_vector(a) && !is_vector(b)) b = splat(b);
  if (is_vector(b) && !is_vector(a)) a = splat(a);
}

Value* Emitter::both(Value* a, Value* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  unify(a, b);
  return builder_.CreateAnd(a, b);
}

Value* Emitter::choose(Value* condition, Value* a, Value* b) {
  unify(a, b);
  if (is_vector(condition)) {
    a = splat(a);
    b = splat(b);
  }
  return builder_.CreateSelect(condition, a, b);
}

Value* Emitter::any_lane(Value* mask) {
  return mask == nullptr || !is_vector(mask) ? mask : builder_.CreateOrReduce(mask);
}

Value* Emitter::constant_index(std::int64_t value) { return builder_.getInt64(static_cast<std::uint64_t>(value)); }

// --- expressions ---

Value* Emitter::emit(const Expr& e, Value* mask) {
  const auto key = std::make_pair(&*e, mask);
  const auto found = memo_.find(key);
  if (found != memo_.end()) return found->second;
  Value* value = emit_fresh(e, mask);
  if (!at_base_) memo_[key] = value;
  return value;
}

Value* Emitter::emit_as(const Expr& e, Type type, Value* mask) {
  if (e.form() == Form::number) return emit_number(e, type);
  return convert(emit(e, mask), type_of(e), type);
}

Value* Emitter::emit_fresh(const Expr& e, Value* mask) {
  switch (e.form()) {
    case Form::number: return emit_number(e, type_of(e));
    case Form::variable: return emit_variable(e);
    case Form::read: return emit_read(e, mask);
    case Form::apply: return emit_apply(e, mask);
    case Form::select: return emit_select(e, mask);
    default: throw InternalError("codegen: a reduction is left in an expression");
  }
}

Value* Emitter::emit_number(const Expr& e, Type type) {
  const spec::Number& n = e->number;
  switch (type) {
    case Type::f32: return llvm::ConstantFP::get(builder_.getFloatTy(), llvm::APFloat(loops::nearest_f32(n)));
    case Type::f64: return llvm::ConstantFP::get(builder_.getDoubleTy(), llvm::APFloat(loops::nearest_f64(n)));
    case Type::i64: return constant_index(n.mantissa);
    case Type::boolean: return builder_.getInt1(n.mantissa != 0);
  }
  return nullptr;
}

Value* Emitter::emit_variable(const Expr& e) {
  if (e->variable == lane_variable_ && !at_base_) return lane_numbers_;
  const auto it = values_.find(e->variable);
  if (it == values_.end()) throw InternalError("codegen: variable `" + e->name + "` has no value");
  // Like a stored tensor, one that stays in a register is converted when it is read.
  const bool narrow = it->second->getType()->getScalarType()->isFloatTy();
  return narrow && arithmetic_.real() == Type::f64 ? convert(it->second, Type::f32, Type::f64) : it->second;
}

Value* Emitter::emit_select(const Expr& e, Value* mask) {
  Value* condition = emit(e->args[0], mask);
  const Type type = type_of(e);
  Value* then = emit_as(e->args[1], type, both(mask, condition));
  Value* otherwise = emit_as(e->args[2], type, both(mask, builder_.CreateNot(condition)));
  return choose(condition, then, otherwise);
}

Value* Emitter::emit_connective(const Expr& e, Value* mask) {
  Value* left = emit(e->args[0], mask);
  if (e.is(Primitive::logical_not)) return builder_.CreateNot(left);
  const bool conjunction = e.is(Primitive::logical_and);
  Value* right = emit(e->args[1], both(mask, conjunction ? left : builder_.CreateNot(left)));
  unify(left, right);
  return conjunction ? builder_.CreateAnd(left, right) : builder_.CreateOr(left, right);
}

Value* Emitter::emit_comparison(const Expr& e, Value* mask) {
  const Type type = arithmetic_.comparison_type(e->args[0], e->args[1]);
  Value* a = emit_as(e->args[0], type, mask);
  Value* b = emit_as(e->args[1], type, mask);
  unify(a, b);
  using P = llvm::CmpInst::Predicate;
  const bool real = type == Type::f32 || type == Type::f64;
  const bool truth = type == Type::boolean;
  P p = P::ICMP_EQ;
  switch (e->primitive) {
    case Primitive::eq: p = real ? P::FCMP_OEQ : P::ICMP_EQ; break;
    case Primitive::ne: p = real ? P::FCMP_UNE : P::ICMP_NE; break;
    case Primitive::lt: p = real ? P::FCMP_OLT : (truth ? P::ICMP_ULT : P::ICMP_SLT); break;
    case Primitive::le: p = real ? P::FCMP_OLE : (truth ? P::ICMP_ULE : P::ICMP_SLE); break;
    case Primitive::gt: p = real ? P::FCMP_OGT : (truth ? P::ICMP_UGT : P::ICMP_SGT); break;
    default: p = real ? P::FCMP_OGE : (truth ? P::ICMP_UGE : P::ICMP_SGE); break;
  }
  return builder_.CreateCmp(p, a, b);
}

Value* Emitter::emit_test(const Expr& e, Value* mask) {
  Value* x = emit(e->args[0], mask);
  if (e.is(Primitive::is_nan)) return builder_.CreateFCmpUNO(x, x);
  Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  return e.is(Primitive::is_inf) ? builder_.CreateFCmpOEQ(size, infinity) : builder_.CreateFCmpOLT(size, infinity);
}

Value* Emitter::emit_apply(const Expr& e, Value* mask) {
  const Primitive p = e->primitive;
  if (p >= Primitive::eq && p <= Primitive::ge) return emit_comparison(e, mask);
  if (p >= Primitive::logical_and && p <= Primitive::logical_not) return emit_connective(e, mask);
  if (p >= Primitive::is_nan && p <= Primitive::is_finite) return emit_test(e, mask);
  if (p == Primitive::pi) return llvm::ConstantFP::get(builder_.getDoubleTy(), llvm::APFloat(3.14159265358979323846));
  const Type type = type_of(e);
  if (p == Primitive::to_real || p == Primitive::to_integer) {
    Value* x = emit(e->args[0], mask);
    if (e->args[0].kind() == e.kind()) return x;
    llvm::Type* to = llvm_type(type, is_vector(x) ? width_ : 1);
    if (p == Primitive::to_integer && e->args[0].kind() == Kind::real) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {to, x->getType()}, {x});
    }
    if (p == Primitive::to_integer) return builder_.CreateZExt(x, to);
    if (e->args[0].kind() == Kind::boolean) return builder_.CreateUIToFP(x, to);
    return builder_.CreateSIToFP(arithmetic_.keeps_odd_bit(e->args[0], extents_) ? with_odd_bit(x) : x, to);
  }
  if (e.kind() == Kind::integer) return emit_integer(e, emit_all(e->args, type, mask));
  if (const auto found = select(e, Rounding::each, machine_)) {
    const std::vector<Value*> operands = emit_all(found->operands, type, mask);
    return write(*found->instruction, operands.front()->getType(), operands);
  }
  return emit_real(e, emit_all(e->args, type, mask), type);
}

/// All of one type, and vectors where one of them is.
std::vector<Value*> Emitter::emit_all(const std::vector<Expr>& all, Type type, Value* mask) {
  std::vector<Value*> values;
  for (const Expr& e : all) values.push_back(emit_as(e, type, mask));
  if (std::any_of(values.begin(), values.end(), is_vector)) {
    for (Value*& v : values) v = splat(v);
  }
  return values;
}

Value* Emitter::maximum(Value* a, Value* b, Type type, bool minimum) {
  unify(a, b);
  if (type == Type::i64) {
    return builder_.CreateBinaryIntrinsic(minimum ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, a, b);
  }
  return write(minimum ? instruction("vmin") : instruction("vmax"), a->getType(), {a, b});
}

Value* Emitter::emit_sign(Value* x) {
  llvm::Type* t = x->getType();
  Value* zero = llvm::ConstantFP::get(t, 0.0);
  Value* nan_or_zero = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), x, zero);
  Value* negative = builder_.CreateSelect(builder_.CreateFCmpOLT(x, zero), llvm::ConstantFP::get(t, -1.0), nan_or_zero);
  return builder_.CreateSelect(builder_.CreateFCmpOGT(x, zero), llvm::ConstantFP::get(t, 1.0), negative);
}

Value* Emitter::emit_real(const Expr& e, std::vector<Value*> args, Type type) {
  const OwnFunction* own = own_function(e->primitive, type == Type::f64 ? DType::f64 : DType::f32);
  if (own != nullptr && is_had_by(*own, machine_)) return emit_own(*own, args[0]);
  switch (e->primitive) {
    case Primitive::modulo: return emit_remainder(args[0], args[1]);
    case Primitive::sinh:
    case Primitive::cosh: return emit_hyperbolic(e->primitive, args[0], type == Type::f64);
    case Primitive::log1p: return emit_log1p(args[0], type == Type::f64);
    case Primitive::exp: return emit_exp(args[0], type == Type::f64);
    case Primitive::pow: return emit_power(args[0], args[1], type == Type::f64);
    case Primitive::sign: return emit_sign(args[0]);
    default: break;
  }
  if (is_sleef(e->primitive)) return emit_function(e->primitive, std::move(args), type == Type::f64);
  throw Unsupported("cpu: no code for the primitive `" + std::string(info(e->primitive).name) + "`");
}

Value* Emitter::emit_integer(const Expr& e, std::vector<Value*> args) {
  switch (e->primitive) {
    case Primitive::add: return builder_.CreateAdd(args[0], args[1]);
    case Primitive::sub: return builder_.CreateSub(args[0], args[1]);
    case Primitive::mul: return builder_.CreateMul(args[0], args[1]);
    case Primitive::neg: return builder_.CreateNeg(args[0]);
    case Primitive::maximum: return maximum(args[0], args[1], Type::i64, false);
    case Primitive::minimum: return maximum(args[0], args[1], Type::i64, true);
    case Primitive::abs: return builder_.CreateSelect(builder_.CreateICmpSLT(args[0], llvm::Constant::getNullValue(args[0]->getType())),
                                                      builder_.CreateNeg(args[0]), args[0]);
    case Primitive::sign: {
      llvm::Type* t = args[0]->getType();
      Value* zero = llvm::Constant::getNullValue(t);
      Value* up = builder_.CreateZExt(builder_.CreateICmpSGT(args[0], zero), t);
      return builder_.CreateSub(up, builder_.CreateZExt(builder_.CreateICmpSLT(args[0], zero), t));
    }
    case Primitive::floor_div:
    case Primitive::modulo: return emit_division(e, args[0], args[1]);
    case Primitive::philox: return emit_philox(args);
    default: throw Unsupported("cpu: no integer code for the primitive `" + std::string(info(e->primitive).name) + "`");
  }
}

}  // namespace etalon::compiled
