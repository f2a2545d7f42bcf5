#include <algorithm>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/emit/llvm/tails.hpp"
#include "compiled/ir/access.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using llvm::Value;
using spec::Expr;

llvm::Type* Emitter::memory_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return builder_.getFloatTy();
    case DType::f64: return builder_.getDoubleTy();
    case DType::i32: return builder_.getInt32Ty();
    case DType::i64: return builder_.getInt64Ty();
    case DType::boolean: return builder_.getInt8Ty();
    case DType::f16:
    case DType::bf16: return builder_.getInt16Ty();
  }
  return nullptr;
}

void Emitter::declare(const std::vector<loops::Buffer>& buffers) {
  for (const loops::Buffer& b : buffers) {
    if (b.scope == loops::Scope::argument) arguments_.push_back(b.tensor);
    else own(b);
  }
}

/// On the stack, or in what the thread is given.
void Emitter::own(const loops::Buffer& own) {
  constexpr auto line_bytes = threshold<std::uint64_t>("line_bytes");
  llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  const std::string& name = system_[own.tensor].name;
  if (own.offset) {
    llvm::Value* scratch = function_.getArg(scratch_argument);
    bases_[own.tensor] = entry.CreateConstInBoundsGEP1_64(entry.getInt8Ty(), scratch, static_cast<std::uint64_t>(*own.offset), name);
    return;
  }
  llvm::AllocaInst* memory = entry.CreateAlloca(entry.getInt8Ty(), entry.getInt64(static_cast<std::uint64_t>(own.bytes)), name);
  memory->setAlignment(llvm::Align(line_bytes));
  bases_[own.tensor] = memory;
}

Value* Emitter::tensor_base(spec::TensorId id) {
  Value*& base = bases_[id];
  if (base != nullptr) return base;
  const auto number = static_cast<std::uint64_t>(std::find(arguments_.begin(), arguments_.end(), id) - arguments_.begin());
  if (number == arguments_.size()) throw InternalError("codegen: a kernel touches `" + system_[id].name + "`, which is none of its buffers");
  llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  base = entry.CreateLoad(entry.getPtrTy(), entry.CreateConstInBoundsGEP1_64(entry.getPtrTy(), function_.getArg(0), number), system_[id].name);
  return base;
}

/// Memory that may be read instead of what must not be.
Value* Emitter::spare() {
  llvm::GlobalVariable* g = module_.getGlobalVariable("spare", true);
  if (g == nullptr) {
    g = new llvm::GlobalVariable(module_, builder_.getInt64Ty(), true, llvm::GlobalValue::InternalLinkage,
                                 builder_.getInt64(0), "spare");
  }
  return g;
}

Value* Emitter::lane_mask(Value* path) {
  Value* mask = both(tail_, path);
  if (mask == nullptr) return nullptr;
  return splat(mask);
}

Value* Emitter::element_value(const loops::Affine& number, Value* mask) {
  Value* sum = number.constant == 0 ? nullptr : constant_index(number.constant);
  const auto add = [&](std::int64_t factor, Value* term) {
    if (factor != 1) {
      Value* f = constant_index(factor);
      unify(f, term);
      term = builder_.CreateMul(term, f);
    }
    if (sum == nullptr) {
      sum = term;
    } else {
      unify(sum, term);
      sum = builder_.CreateAdd(sum, term);
    }
  };
  for (const auto& [v, c] : number.variables) {
    add(c, v == lane_variable_ && !at_base_ ? lane_numbers_ : values_.at(v));
  }
  for (const auto& [c, e] : number.opaque) add(c, emit(e, mask));
  return sum == nullptr ? builder_.getInt64(0) : sum;
}

/// The number of the first lane's element where the lanes lie side by side in one panel; else null.
Value* Emitter::first_in_panel(loops::Affine number) {
  if (lane_variable_ < 0 || !whole_) return nullptr;
  const auto along = access_along(number, lane_variable_);
  if (!along || along->panel % width_ != 0 || along->panel == 0 || along->inner != 1) return nullptr;
  std::erase_if(number.opaque, [&](const auto& term) { return loops::mentions(term.second, lane_variable_); });
  bool others = std::any_of(number.opaque.begin(), number.opaque.end(), [&](const auto& term) { return varies(term.second); });
  for (const auto& [v, c] : number.variables) {
    const auto it = values_.find(v);
    others = others || (it != values_.end() && is_vector(it->second));
  }
  if (others) return nullptr;
  Value* lane = values_.at(lane_variable_);
  Value* panel = constant_index(along->panel);
  Value* there = builder_.CreateNSWMul(builder_.CreateUDiv(lane, panel), constant_index(along->outer));
  there = builder_.CreateNSWAdd(there, builder_.CreateURem(lane, panel));
  return builder_.CreateNSWAdd(element_value(number, nullptr), there);
}

Emitter::Address Emitter::address(const std::vector<Expr>& indices, const Dims& dims, Value* mask) {
  const loops::Affine number = loops::element_number(indices, dims);
  if (Value* first = first_in_panel(number)) return {Address::Kind::contiguous, first};
  bool irregular = std::any_of(number.opaque.begin(), number.opaque.end(),
                               [&](const auto& term) { return varies(term.second); });
  for (const auto& [v, c] : number.variables) {
    const auto it = values_.find(v);
    irregular = irregular || (v != lane_variable_ && it != values_.end() && is_vector(it->second));
  }
  const std::int64_t stride = lane_variable_ >= 0 ? number.coefficient(lane_variable_) : 0;
  if (irregular || (stride != 0 && stride != 1)) return {Address::Kind::scattered, splat(element_value(number, mask))};
  if (stride == 0) return {Address::Kind::uniform, element_value(number, mask)};
  at_base_ = true;
  Value* first = element_value(number, mask);
  at_base_ = false;
  return {Address::Kind::contiguous, first};
}

Value* Emitter::element_pointer(const Expr& read) {
  const spec::TensorInfo& t = system_[read->tensor];
  Value* element = element_value(loops::element_number(read->args, t.dims), nullptr);
  return builder_.CreateGEP(memory_type(t.dtype), tensor_base(read->tensor), element);
}

Value* Emitter::loaded(Value* raw, DType dtype) {
  const unsigned n = is_vector(raw) ? width_ : 1;
  if (dtype == DType::i32) return builder_.CreateSExt(raw, llvm_type(Type::i64, n));
  if (dtype == DType::boolean) return builder_.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
  if (is_half(dtype)) return convert(widened(raw, dtype), Type::f32, arithmetic_.real() == Type::f64 ? Type::f64 : Type::f32);
  if (dtype == DType::f32 && arithmetic_.real() == Type::f64) return convert(raw, Type::f32, Type::f64);
  return raw;
}

// LLVM 19 takes 0 / 0 for 0 where it knows both lanes to be 0 (SimplifyDemandedVectorElts), and then leaves out the selection that keeps
// the NaN of an idle lane out of a sum. Which lanes are idle it knows where the mask is constant.
llvm::Constant* idle(llvm::Type* wide, const Value* lanes) {
  const bool known = lanes != nullptr && llvm::isa<llvm::Constant>(lanes);
  if (known && wide->isFPOrFPVectorTy()) return llvm::ConstantFP::get(wide, 1.0);
  constexpr unsigned bits_of_halves = 16;
  if (known && wide->getScalarSizeInBits() == bits_of_halves) return llvm::ConstantInt::get(wide, 1);
  return llvm::Constant::getNullValue(wide);
}

Value* Emitter::emit_read(const Expr& e, Value* mask) {
  const spec::TensorInfo& t = system_[e->tensor];
  llvm::Type* type = memory_type(t.dtype);
  const llvm::Align align(size_of(t.dtype));
  const Address a = address(e->args, t.dims, mask);
  Value* path = mask != nullptr && !loops::in_range(system_, e, extents_) ? mask : nullptr;
  Value* base = tensor_base(e->tensor);
  if (a.kind == Address::Kind::uniform) {
    Value* p = builder_.CreateGEP(type, base, a.element);
    if (path != nullptr) p = builder_.CreateSelect(any_lane(is_vector(path) ? lane_mask(path) : path), p, spare());
    return loaded(load(type, p, align), t.dtype);
  }
  llvm::Type* wide = llvm::FixedVectorType::get(type, width_);
  Value* lanes = lane_mask(path);
  Value* nothing = idle(wide, lanes);
  if (a.kind == Address::Kind::scattered) {
    if (const auto near = neighbours(loops::element_number(e->args, t.dims), type, mask)) {
      return loaded(load_neighbours(*near, type, base, lanes), t.dtype);
    }
  }
  Value* p = builder_.CreateGEP(type, base, a.element);
  if (a.kind == Address::Kind::scattered) {
    return loaded(builder_.CreateMaskedGather(wide, p, align, lanes, nothing), t.dtype);
  }
  return loaded(load(wide, p, align, lanes, nothing), t.dtype);
}

Value* Emitter::raw_of(Value* value, Type type, DType dtype) {
  llvm::Type* memory = memory_type(dtype);
  if (is_vector(value)) memory = llvm::FixedVectorType::get(memory, width_);
  switch (dtype) {
    case DType::f32: return convert(value, type, Type::f32);
    case DType::f64: return convert(value, type, Type::f64);
    case DType::i32: return builder_.CreateTrunc(value, memory);
    case DType::boolean: return builder_.CreateZExt(value, memory);
    case DType::f16:
    case DType::bf16: return narrowed(value, type, dtype);
    default: return value;
  }
}

/// A store around the caches, which wants to be told that its address is one of whole vectors.
void Emitter::stream(Value* vector, Value* to) {
  constexpr auto line_bytes = threshold<std::uint64_t>("line_bytes");
  const std::uint64_t bytes = module_.getDataLayout().getTypeStoreSize(vector->getType()).getFixedValue();
  write(instruction("vstream"), vector->getType(), {vector, to}, llvm::Align(std::min(bytes, line_bytes)));
  streams_ = true;
}

void Emitter::store(const loops::Store& store, Value* mask) {
  const spec::TensorInfo& t = system_[store.tensor];
  llvm::Type* type = memory_type(t.dtype);
  const llvm::Align align(size_of(t.dtype));
  const Address a = address(store.place, t.dims, mask);
  Value* p = builder_.CreateGEP(type, tensor_base(store.tensor), a.element);
  const Type computed = arithmetic_.stored_type(store.value, t.dtype);
  Value* value = raw_of(emit_as(store.value, computed, mask), computed, t.dtype);
  const bool real_element = kind_of(t.dtype) == Kind::real;
  const auto joined = [&](Value* old) {
    if (!store.add) return value;
    return real_element ? add(old, value) : builder_.CreateAdd(old, value);
  };
  if (a.kind == Address::Kind::uniform) {
    if (is_vector(value)) throw InternalError("codegen: lanes write one element");
    return this->store(joined(store.add ? load(type, p, align) : nullptr), p, align);
  }
  value = splat(value);
  llvm::Type* wide = llvm::FixedVectorType::get(type, width_);
  Value* lanes = lane_mask(mask);
  if (a.kind == Address::Kind::scattered) {
    Value* old = store.add ? builder_.CreateMaskedGather(wide, p, align, lanes) : nullptr;
    builder_.CreateMaskedScatter(joined(old), p, align, lanes);
  } else if (store.streamed) {
    stream(value, p);
  } else {
    Value* old = store.add ? load(wide, p, align, lanes, llvm::Constant::getNullValue(wide)) : nullptr;
    this->store(joined(old), p, align, lanes);
  }
}

Value* Emitter::load(llvm::Type* type, Value* from, llvm::Align align, Value* lanes, Value* nothing) {
  if (lanes == nullptr) return write(instruction("vload"), type, {from}, align);
  return write(instruction("vload_where"), type, {from, lanes, nothing}, align);
}

void Emitter::store(Value* value, Value* to, llvm::Align align, Value* lanes) {
  const auto count = lanes == nullptr ? std::nullopt : first_lanes_of(lanes);
  if (lanes == nullptr) {
    write(instruction("vstore"), value->getType(), {value, to}, align);
  } else if (count && *count > 0) {
    for (const TailPiece& piece : tail_pieces(builder_, value, *count, to)) store(piece.vector, piece.at, align);
  } else {
    write(instruction("vstore_where"), value->getType(), {value, lanes, to}, align);
  }
}

void Emitter::prefetch(Value* at, bool to_be_written) {
  write(to_be_written ? instruction("vprefetch_write") : instruction("vprefetch"), builder_.getInt8Ty(), {at});
}

}  // namespace etalon::compiled
