#include "compiled/codegen/contraction_emitter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiled/codegen/counting.hpp"
#include "compiled/schedule/access.hpp"

namespace etalon::compiled {

using llvm::Value;
using loops::Binder;
using spec::Expr;

namespace {

std::int64_t parts(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

}  // namespace

ContractionEmitter::ContractionEmitter(llvm::Function& function, Emitter& emitter, const spec::System& system,
                                       const loops::Contract& c, Type real, std::function<void()> element)
    : function_(function), emitter_(emitter), system_(system), c_(c), s_(c.schedule), real_(real),
      element_(std::move(element)), b_(emitter.builder()), scalar_(emitter.llvm_type(real)),
      vector_(emitter.llvm_type(real, s_.lanes)) {
  for (const Binder& b : c.depth) depth_ *= b.extent;
}

// --- tiles ---

void ContractionEmitter::run() {
  emitter_.set_real(real_);
  llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  const auto blocks = static_cast<std::uint64_t>(parts(depth_, s_.depth_block));
  const auto vectors = static_cast<unsigned>(s_.tile_columns / s_.lanes);
  const std::uint64_t room = static_cast<std::uint64_t>(s_.tile_rows) * vectors;
  const auto digits = static_cast<std::uint64_t>(std::bit_width(blocks - 1));
  if (blocks > 1) waiting_ = entry.CreateAlloca(vector_, number(static_cast<std::int64_t>(room * digits)));
  for (std::uint64_t i = 0; i < room; ++i) sums_.push_back(entry.CreateAlloca(vector_));
  const std::int64_t whole = c_.column.extent / s_.tile_columns;
  const std::int64_t rest = c_.column.extent % s_.tile_columns;
  Value* begin = emitter_.emit(c_.first_column, nullptr);
  Value* end = b_.CreateNSWAdd(begin, number(s_.block_columns));
  if (whole > 0) panels(begin, clipped(end, whole, false), vectors, s_.lanes);
  if (rest == 0) return;
  const auto cut = static_cast<unsigned>(parts(rest, s_.lanes));
  panels(clipped(begin, whole, true), clipped(end, whole + 1, false), cut, static_cast<unsigned>(rest) - (cut - 1) * s_.lanes);
}

Value* ContractionEmitter::clipped(Value* value, std::int64_t limit, bool at_least) {
  return b_.CreateBinaryIntrinsic(at_least ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, value, number(limit));
}

/// Columns of tiles: all the block's rows use a panel of the right factor while it is near.
void ContractionEmitter::panels(Value* begin, Value* end, unsigned vectors, unsigned last) {
  const std::int64_t whole = c_.row.extent / s_.tile_rows;
  const std::int64_t rest = c_.row.extent % s_.tile_rows;
  count_up(b_, begin, end, [&](Value* column_tile) {
    emitter_.forget();
    Value* first = emitter_.emit(c_.first_row, nullptr);
    Value* after = b_.CreateNSWAdd(first, number(s_.block_rows));
    const auto rows = [&](Value* from, Value* to, std::int64_t height) {
      count_up(b_, from, to, [&](Value* row_tile) { tile({height, vectors, last}, row_tile, column_tile); });
    };
    if (whole > 0) rows(first, clipped(after, whole, false), s_.tile_rows);
    if (rest > 0) rows(clipped(first, whole, true), clipped(after, whole + 1, false), rest);
  });
  emitter_.forget();
}

ContractionEmitter::Source ContractionEmitter::source(const Expr& read, const Binder& along) {
  const loops::Affine element = loops::element_number(read->args, system_[read->tensor].dims);
  const Access access = *access_along(element, along.variable);
  return {emitter_.element_pointer(read), access.inner, *stride_along(element, c_.depth), access.outer};
}

void ContractionEmitter::tile(const Tile& t, Value* row_tile, Value* column_tile) {
  emitter_.bind(c_.row.variable, b_.CreateNSWMul(row_tile, number(s_.tile_rows)), c_.row.extent);
  emitter_.bind(c_.column.variable, b_.CreateNSWMul(column_tile, number(s_.tile_columns)), c_.column.extent);
  for (const Binder& b : c_.depth) emitter_.bind(b.variable, number(0), b.extent);
  Sources from{source(c_.left, c_.row), source(c_.right, c_.column), {}};
  if (c_.guard.valid()) from.guard = source(c_.guard, c_.column);
  ahead_ = s_.fetch_ahead ? next_panel(t, from.right, row_tile, column_tile) : nullptr;
  add_up(t, from);
  elements(t, row_tile, column_tile);
}

/// Where this tile's share of the next panel begins: a line for each step of the depth; the tiles above each other take
/// turns. The last panel stands for the one after it, so that nothing beyond is touched.
Value* ContractionEmitter::next_panel(const Tile& t, const Source& right, Value* row_tile, Value* column_tile) {
  const std::int64_t last = parts(c_.column.extent, s_.tile_columns) - 1;
  Value* there = b_.CreateSelect(b_.CreateICmpSLT(column_tile, number(last)), number(right.next), number(0));
  Value* share = b_.CreateURem(row_tile, number(t.vectors));
  return b_.CreateInBoundsGEP(scalar_, advanced(right.begin, share, depth_ * s_.lanes), there);
}

void ContractionEmitter::fetch(Value* step) {
  if (ahead_ == nullptr) return;
  constexpr unsigned for_reading = 0;
  constexpr unsigned second_cache = 2;
  constexpr unsigned data = 1;
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {advanced(ahead_, step, s_.lanes), b_.getInt32(for_reading), b_.getInt32(second_cache), b_.getInt32(data)});
}

/// The finished elements, row by row in vectors.
void ContractionEmitter::elements(const Tile& t, Value* row_tile, Value* column_tile) {
  Value* row = b_.CreateNSWMul(row_tile, number(s_.tile_rows));
  Value* column = b_.CreateNSWMul(column_tile, number(s_.tile_columns));
  for (std::int64_t r = 0; r < t.rows; ++r) {
    for (unsigned v = 0; v < t.vectors; ++v) {
      Value* first = b_.CreateNSWAdd(column, number(static_cast<std::int64_t>(v) * s_.lanes));
      emitter_.bind(c_.row.variable, b_.CreateNSWAdd(row, number(r)), c_.row.extent);
      emitter_.bind(c_.column.variable, first, c_.column.extent);
      emitter_.enter_lanes(c_.column.variable, first, s_.lanes, lanes_of(t, v));
      emitter_.define(c_.target, b_.CreateLoad(vector_, sums_[static_cast<std::size_t>(r) * t.vectors + v]));
      element_();
      emitter_.leave_lanes();
    }
  }
}

/// Which lanes of a vector are columns; null when all are.
llvm::Constant* ContractionEmitter::lanes_of(const Tile& t, unsigned vector) {
  if (vector + 1 < t.vectors || t.last == s_.lanes) return nullptr;
  std::vector<llvm::Constant*> lanes;
  for (unsigned i = 0; i < s_.lanes; ++i) lanes.push_back(b_.getInt1(i < t.last));
  return llvm::ConstantVector::get(lanes);
}

// --- the depth ---

Value* ContractionEmitter::advanced(Value* pointer, Value* by, std::int64_t stride) {
  return b_.CreateInBoundsGEP(scalar_, pointer, b_.CreateNSWMul(by, number(stride)));
}

Value* ContractionEmitter::advanced(Value* pointer, std::int64_t by) {
  return by == 0 ? pointer : b_.CreateInBoundsGEP(scalar_, pointer, number(by));
}

/// The vectors of one step of the depth, so many after where the source begins.
std::vector<Value*> ContractionEmitter::columns(const Tile& t, const Source& from, std::int64_t step) {
  const llvm::Align align(real_ == Type::f64 ? 8 : 4);
  std::vector<Value*> vectors;
  for (unsigned v = 0; v < t.vectors; ++v) {
    Value* at = advanced(from.begin, step * from.depth + static_cast<std::int64_t>(v) * s_.lanes);
    // A panel goes on beyond the last column.
    llvm::Constant* lanes = from.next != 0 ? nullptr : lanes_of(t, v);
    vectors.push_back(lanes == nullptr ? static_cast<Value*>(b_.CreateAlignedLoad(vector_, at, align))
                                       : b_.CreateMaskedLoad(vector_, at, align, lanes, llvm::Constant::getNullValue(vector_)));
  }
  return vectors;
}

/// Adds the products of one step of the depth.
void ContractionEmitter::one_step(const Tile& t, const Sources& from, std::int64_t step) {
  const llvm::Align align(real_ == Type::f64 ? 8 : 4);
  const std::vector<Value*> right = columns(t, from.right, step);
  std::vector<Value*> counts;
  if (from.guard.begin != nullptr) counts = columns(t, from.guard, step);
  for (Value*& c : counts) c = b_.CreateFCmpUNE(c, llvm::Constant::getNullValue(vector_));
  for (std::int64_t r = 0; r < t.rows; ++r) {
    Value* one = b_.CreateAlignedLoad(scalar_, advanced(from.left.begin, step * from.left.depth + r * from.left.along), align);
    Value* row = b_.CreateVectorSplat(s_.lanes, one);
    for (unsigned v = 0; v < t.vectors; ++v) {
      Value* slot = sums_[static_cast<std::size_t>(r) * t.vectors + v];
      Value* old = b_.CreateLoad(vector_, slot);
      Value* sum = b_.CreateIntrinsic(llvm::Intrinsic::fma, {vector_}, {row, right[v], old});
      b_.CreateStore(counts.empty() ? sum : b_.CreateSelect(counts[v], sum, old), slot);
    }
  }
}

/// `count` turns of `unroll` steps each, from step `first` of the depth on.
void ContractionEmitter::turns(const Tile& t, const Sources& from, Value* first, Value* count) {
  count_up(b_, number(0), count, [&](Value* turn) {
    Value* step = b_.CreateNSWAdd(first, b_.CreateNSWMul(turn, number(s_.unroll)));
    Sources here = from;
    for (Source* source : {&here.left, &here.right, &here.guard}) {
      if (source->begin != nullptr) source->begin = advanced(source->begin, step, source->depth);
    }
    for (std::int64_t u = 0; u < s_.unroll; ++u) {
      fetch(b_.CreateNSWAdd(step, number(u)));
      one_step(t, here, u);
    }
  });
}

/// All the depth: every block of terms from zero; the sums of blocks wait as the digits of their number say.
void ContractionEmitter::add_up(const Tile& t, const Sources& from) {
  const std::int64_t blocks = parts(depth_, s_.depth_block);
  const std::int64_t last = depth_ - (blocks - 1) * s_.depth_block;
  const auto clear = [&] {
    for (std::size_t i = 0; i < t.sums(); ++i) b_.CreateStore(llvm::Constant::getNullValue(vector_), sums_[i]);
  };
  if (blocks == 1) {
    clear();
    turns(t, from, number(0), number(last / s_.unroll));
  } else {
    count_up(b_, number(0), number(blocks - 1), [&](Value* block) {
      clear();
      turns(t, from, b_.CreateNSWMul(block, number(s_.depth_block)), number(s_.depth_block / s_.unroll));
      carry(t, block);
    });
    clear();
    turns(t, from, number((blocks - 1) * s_.depth_block), number(last / s_.unroll));
  }
  const std::int64_t done = depth_ - last % s_.unroll;
  for (std::int64_t step = done; step < depth_; ++step) one_step(t, from, step);
  for (std::int64_t digit = 0; (blocks - 1) >> digit != 0; ++digit) {
    if (((blocks - 1) >> digit & 1) != 0) join(t, number(digit));
  }
}

Value* ContractionEmitter::waiting(const Tile& t, Value* digit, std::size_t i) {
  Value* first = b_.CreateNSWMul(digit, number(static_cast<std::int64_t>(t.sums())));
  return b_.CreateInBoundsGEP(vector_, waiting_, b_.CreateNSWAdd(first, number(static_cast<std::int64_t>(i))));
}

void ContractionEmitter::join(const Tile& t, Value* digit) {
  for (std::size_t i = 0; i < t.sums(); ++i) {
    Value* sum = b_.CreateFAdd(b_.CreateLoad(vector_, waiting(t, digit, i)), b_.CreateLoad(vector_, sums_[i]));
    b_.CreateStore(sum, sums_[i]);
  }
}

/// The sum of block number `block` meets those of its size that wait, and waits.
void ContractionEmitter::carry(const Tile& t, Value* block) {
  Value* digits = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt64Ty()}, {b_.CreateNot(block), b_.getFalse()});
  count_up(b_, number(0), digits, [&](Value* digit) { join(t, digit); });
  for (std::size_t i = 0; i < t.sums(); ++i) b_.CreateStore(b_.CreateLoad(vector_, sums_[i]), waiting(t, digits, i));
}

}  // namespace etalon::compiled
