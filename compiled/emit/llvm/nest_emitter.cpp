#include "compiled/emit/llvm/nest_emitter.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiled/emit/llvm/contraction_emitter.hpp"
#include "compiled/emit/llvm/counting.hpp"
#include "compiled/emit/llvm/kernel_function.hpp"
#include "compiled/emit/llvm/nest_parts.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {
namespace {

bool is_position(Reduction r) { return r == Reduction::argmax || r == Reduction::argmin; }
bool is_extremum(Reduction r) { return r == Reduction::max || r == Reduction::min || is_position(r); }

}  // namespace

/// A stack slot that is set to `start` here; promoted to registers afterwards.
Value* NestEmitter::variable(llvm::Type* type, llvm::Constant* start) {
  llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  Value* slot = entry.CreateAlloca(type);
  b_.CreateStore(start, slot);
  return slot;
}

/// Room on the stack until it is put back to the others: steps that follow each other use the same.
llvm::AllocaInst* NestEmitter::borrow(std::uint64_t bytes) {
  constexpr auto line_bytes = threshold<std::uint64_t>("line_bytes");
  if (rooms_.empty()) {
    llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
    rooms_.push_back(entry.CreateAlloca(entry.getInt8Ty(), entry.getInt64(0)));
    rooms_.back()->setAlignment(llvm::Align(line_bytes));
  }
  llvm::AllocaInst* room = rooms_.back();
  rooms_.pop_back();
  const std::uint64_t before = llvm::cast<llvm::ConstantInt>(room->getArraySize())->getZExtValue();
  room->setOperand(0, b_.getInt64(std::max(before, bytes)));
  return room;
}

void NestEmitter::count(Value* begin, Value* end, const std::function<void(Value*)>& body) {
  count_up(b_, begin, end, body);
  emitter_.forget();
}

/// The vector that the next row has here; one beyond the last row does no harm.
void NestEmitter::fetch(const Loop& loop) {
  constexpr auto line = threshold<std::uint64_t>("line_bytes");
  for (const loops::FetchedRow& row : loop.fetched) {
    Value* first = emitter_.element_pointer(row.element);
    const std::uint64_t bytes = loop.width * size_of(system_[row.element->tensor].dtype);
    for (std::uint64_t at = 0; at < bytes; at += line) emitter_.prefetch(b_.CreateGEP(b_.getInt8Ty(), first, b_.getInt64(at)), row.write);
  }
}

void NestEmitter::iterate(const Loop& loop, Value* begin, Value* end, const std::function<void()>& body) {
  const std::int64_t extent = loop.binder.extent;
  const auto turn = [&](Value* i, bool whole) {
    if (lines_ != nullptr && !loop.in_lanes()) lines_->is(b_, loop, i);
    if (loop.in_lanes()) {
      const unsigned width = loop.width;
      Value* base = b_.CreateNSWMul(i, b_.getInt64(width));
      if (lines_ != nullptr) lines_->is(b_, loop, base);
      emitter_.bind(loop.binder.variable, base, extent);
      fetch(loop);
      emitter_.enter_lanes(loop.binder.variable, base, width, nullptr, true);
      if (!whole) {
        Value* numbers = emitter_.lane_numbers();
        Value* limit = emitter_.splat(b_.getInt64(static_cast<std::uint64_t>(extent)));
        emitter_.enter_lanes(loop.binder.variable, base, width, b_.CreateICmpULT(numbers, limit), true);
      }
      body();
      emitter_.leave_lanes();
    } else {
      emitter_.bind(loop.binder.variable, i, extent);
      body();
    }
  };
  const bool all_whole = !loop.in_lanes() || extent % loop.width == 0;
  const auto once = [&](Value* i) { turn(i, all_whole); };
  const std::int64_t blocks = blocks_of(loop);
  if (begin == nullptr) {
    Value* last = b_.getInt64(static_cast<std::uint64_t>(blocks - 1));
    if (blocks == 1 && !loop.limit.valid()) return once(last);
    if (!all_whole && !loop.limit.valid() && blocks <= threshold("most_vectors_before_tail") + 1) {
      if (blocks == 2) turn(b_.getInt64(0), true);
      else count(b_.getInt64(0), last, [&](Value* i) { turn(i, true); });
      return turn(last, false);
    }
    begin = b_.getInt64(0);
    end = b_.getInt64(static_cast<std::uint64_t>(blocks));
    if (loop.limit.valid()) end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, emitter_.emit(loop.limit, nullptr));
  }
  count(begin, end, once);
}

void NestEmitter::steps(const std::vector<Step>& all) {
  for (const Step& s : all) one(s);
}

void NestEmitter::one(const Step& s) {
  const llvm::DebugLoc around = b_.getCurrentDebugLocation();
  at(&s);
  std::visit([&](const auto& what) { step(what, s); }, s.is);
  b_.SetCurrentDebugLocation(around);
}

void NestEmitter::step(const Loop& loop, const Step&) {
  iterate(loop, nullptr, nullptr, [&] { steps(loop.steps); });
}

void NestEmitter::step(const loops::Define& d, const Step& s) {
  emitter_.set_real(s.real);
  Value* value = emitter_.emit(d.value, reached_);
  emitter_.define(d.target, emitter_.rounded(value, emitter_.type_of(d.value), d.dtype));
}

void NestEmitter::step(const loops::Store& store, const Step& s) {
  emitter_.set_real(s.real);
  if (!store.guard.valid()) return emitter_.store(store, nullptr);
  Value* guard = emitter_.emit(store.guard, nullptr);
  if (guard->getType()->isVectorTy()) return emitter_.store(store, guard);
  only_if(b_, guard, "then", [&] {
    emitter_.forget();
    emitter_.store(store, nullptr);
  });
  emitter_.forget();
}

void NestEmitter::step(const loops::Contract& c, const Step& s) {
  at(&c.target);
  const std::uint64_t bytes = waiting_bytes(c.schedule, s.real == Type::f64 ? sizeof(double) : sizeof(float));
  llvm::AllocaInst* waiting = bytes == 0 ? nullptr : borrow(bytes);
  ContractionEmitter(function_, emitter_, system_, c, s.real, waiting, [&] { steps(c.steps); }).run();
  if (waiting != nullptr) rooms_.push_back(waiting);
}

llvm::Constant* NestEmitter::neutral(const Reduce& r, Type type, unsigned width) {
  llvm::Type* t = emitter_.llvm_type(type, width);
  const bool real = type == Type::f32 || type == Type::f64;
  switch (r.reduction) {
    case Reduction::sum: return llvm::Constant::getNullValue(t);
    case Reduction::prod: return real ? llvm::ConstantFP::get(t, 1.0) : llvm::ConstantInt::get(t, 1);
    case Reduction::any: return llvm::ConstantInt::get(t, 0);
    case Reduction::all: return llvm::ConstantInt::getAllOnesValue(t);
    case Reduction::max:
    case Reduction::argmax:
      return real ? llvm::ConstantFP::getInfinity(t, true)
                  : llvm::ConstantInt::get(t, static_cast<std::uint64_t>(INT64_MIN));
    case Reduction::min:
    case Reduction::argmin:
      return real ? llvm::ConstantFP::getInfinity(t) : llvm::ConstantInt::get(t, static_cast<std::uint64_t>(INT64_MAX));
  }
  return nullptr;
}

Value* NestEmitter::combine(Reduction reduction, Type type, Value* a, Value* b) {
  const bool real = type == Type::f32 || type == Type::f64;
  emitter_.unify(a, b);
  switch (reduction) {
    case Reduction::sum: return real ? emitter_.add(a, b) : b_.CreateAdd(a, b);
    case Reduction::prod: return real ? emitter_.multiply(a, b) : b_.CreateMul(a, b);
    case Reduction::any: return b_.CreateOr(a, b);
    case Reduction::all: return b_.CreateAnd(a, b);
    case Reduction::max: return emitter_.maximum(a, b, type, false);
    case Reduction::min: return emitter_.maximum(a, b, type, true);
    default: throw InternalError("codegen: positions are not joined");
  }
}

/// Joins the chains of a tree, each a lane, by halves.
Value* NestEmitter::join_chains(Reduction reduction, const Partial& partial, Value* lanes) {
  for (unsigned n = partial.width; n > 1; n /= 2) {
    const auto half = [&](unsigned first) { return b_.CreateShuffleVector(lanes, llvm::createSequentialMask(first, n / 2, 0)); };
    Value* high = half(n / 2);
    lanes = combine(reduction, partial.type, half(0), high);
  }
  return b_.CreateExtractElement(lanes, std::uint64_t{0});
}

/// The row-major position among the reduction's own ranges.
Value* NestEmitter::position(const Reduce& r) {
  spec::Expr number = spec::integer(0);
  for (const Loop& loop : r.loops) {
    number = number * spec::integer(loop.binder.extent) + spec::variable(loop.binder);
  }
  temporaries_.push_back(number);
  return emitter_.emit(number, nullptr);
}

void NestEmitter::accumulate_position(const Reduce& r, const Partial& partial, Value* value, Value* where) {
  const bool real = partial.type == Type::f32 || partial.type == Type::f64;
  const bool largest = r.reduction == Reduction::argmax;
  Value* best = b_.CreateLoad(emitter_.llvm_type(partial.type, partial.width), partial.best);
  Value* at = b_.CreateLoad(emitter_.llvm_type(Type::i64, partial.width), partial.position);
  Value* found = b_.CreateLoad(emitter_.llvm_type(Type::boolean, partial.width), partial.found);
  emitter_.unify(value, best);
  Value* better = nullptr;
  if (real) {
    better = largest ? b_.CreateFCmpOGT(value, best) : b_.CreateFCmpOLT(value, best);
    Value* first_nan = b_.CreateAnd(b_.CreateFCmpUNO(value, value), b_.CreateFCmpORD(best, best));
    better = b_.CreateOr(better, first_nan);
  } else {
    better = largest ? b_.CreateICmpSGT(value, best) : b_.CreateICmpSLT(value, best);
  }
  emitter_.unify(better, found);
  better = emitter_.both(where, b_.CreateOr(better, b_.CreateNot(found)));
  b_.CreateStore(emitter_.choose(better, value, best), partial.best);
  b_.CreateStore(emitter_.choose(better, position(r), at), partial.position);
}

void NestEmitter::accumulate(const Reduce& r, const Partial& partial) {
  Value* where = emitter_.both(reached_, emitter_.emit(r.guard, reached_));
  Value* value = emitter_.emit_as(r.body, partial.type, where);
  if (r.tree.chains > 1) where = emitter_.both(where, emitter_.tail());
  if (partial.width > 1) {
    value = emitter_.splat(value);
    where = emitter_.splat(where);
  }
  if (is_position(r.reduction)) {
    accumulate_position(r, partial, value, where);
  } else {
    Value* old = b_.CreateLoad(emitter_.llvm_type(partial.type, partial.width), partial.best);
    Value* joined = combine(r.reduction, partial.type, old, value);
    b_.CreateStore(emitter_.choose(where, joined, old), partial.best);
  }
  if (partial.found != nullptr) {
    Value* old = b_.CreateLoad(emitter_.llvm_type(Type::boolean, partial.width), partial.found);
    b_.CreateStore(b_.CreateOr(old, where), partial.found);
  }
}

void NestEmitter::inside(const Reduce& r, std::size_t level, const Step& s, const Partial& partial) {
  if (level == r.loops.size()) {
    emitter_.set_real(s.real);
    at(&r.body);
    return accumulate(r, partial);
  }
  at(&r.loops[level]);
  if (partial.blocks && level == partial.blocks->of.level) return in_blocks(r, s, partial);
  if (r.loops[level].bind == loops::Bind::unrolled) {
    const spec::Binder& binder = r.loops[level].binder;
    for (std::int64_t i = 0; i < binder.extent; ++i) {
      emitter_.forget();
      emitter_.bind(binder.variable, b_.getInt64(static_cast<std::uint64_t>(i)), binder.extent);
      steps(r.loops[level].steps);
      inside(r, level + 1, s, partial);
    }
    return emitter_.forget();
  }
  iterate(r.loops[level], nullptr, nullptr, [&] {
    steps(r.loops[level].steps);
    inside(r, level + 1, s, partial);
  });
}

void NestEmitter::step(const Reduce& r, const Step& s) {
  emitter_.set_real(s.real);
  Value* outer = reached_;
  if (r.reached.valid()) reached_ = emitter_.both(outer, emitter_.emit(r.reached, outer));
  const bool in_chains = r.tree.chains > 1;
  Partial partial;
  partial.type = emitter_.type_of(r.body);
  partial.width = in_chains ? r.tree.chains : emitter_.width();
  const auto slot = [&](Type type, llvm::Constant* start) {
    return variable(emitter_.llvm_type(type, partial.width), start);
  };
  const auto nothing = [&](Type type) { return llvm::Constant::getNullValue(emitter_.llvm_type(type, partial.width)); };
  partial.best = slot(partial.type, neutral(r, partial.type, partial.width));
  if (is_position(r.reduction)) partial.position = slot(Type::i64, nothing(Type::i64));
  if (is_position(r.reduction) || (is_extremum(r.reduction) && r.otherwise.valid())) {
    partial.found = slot(Type::boolean, nothing(Type::boolean));
  }
  partial.blocks = blocks_in(r, partial);
  inside(r, 0, s, partial);
  at(&s);
  if (partial.blocks) {
    join_blocks(partial);
    rooms_.push_back(partial.blocks->sums);
  }
  emitter_.set_real(s.real);
  const auto result = [&](Value* of, Type type, Reduction how) {
    Value* lanes = b_.CreateLoad(emitter_.llvm_type(type, partial.width), of);
    Partial as = partial;
    as.type = type;
    return in_chains ? join_chains(how, as, lanes) : lanes;
  };
  const bool at = is_position(r.reduction);
  Value* value = at ? result(partial.position, Type::i64, r.reduction) : result(partial.best, partial.type, r.reduction);
  if (r.otherwise.valid()) {
    Value* found = result(partial.found, Type::boolean, Reduction::any);
    const Type type = at ? Type::i64 : partial.type;
    value = emitter_.choose(found, value, emitter_.emit_as(r.otherwise, type, outer));
  }
  reached_ = outer;
  emitter_.define(r.target, value);
}

void NestEmitter::run() {
  llvm::LLVMContext& context = b_.getContext();
  auto* entry = llvm::BasicBlock::Create(context, "entry", &function_);
  auto* start = llvm::BasicBlock::Create(context, "start", &function_);
  llvm::BranchInst::Create(start, entry);
  b_.SetInsertPoint(start);
  at(&nest_);
  emitter_.declare(nest_.buffers);
  if (const Loop* loop = loops::threads_loop(nest_)) {
    for (std::size_t i = 0; i + 1 < nest_.steps.size(); ++i) {
      one(nest_.steps[i]);
    }
    at(&nest_.steps.back());
    iterate(*loop, function_.getArg(1), function_.getArg(2), [&] { steps(loop->steps); });
  } else {
    steps(nest_.steps);
  }
  if (emitter_.streams() && emitter_.machine().orders_streams) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  b_.CreateRetVoid();
}

std::int64_t emit_nest(InstructionWriter& writer, llvm::Module& module, const std::string& name, const spec::System& system,
                      const loops::Nest& nest, const Machine& machine, DebugLines* lines) {
  llvm::Function& f = kernel_function(module, name, machine);
  if (lines != nullptr) lines->begin(f, nest);
  NestEmitter emitter(module, f, system, nest, machine, writer, lines);
  emitter.run();
  const Loop* shared = loops::threads_loop(nest);
  return shared != nullptr ? blocks_of(*shared) : 1;
}

}  // namespace etalon::compiled
