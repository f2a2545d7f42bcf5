#include "compiled/emit/llvm/contraction_emitter.hpp"

#include <algorithm>
#include <utility>

#include "compiled/emit/llvm/counting.hpp"
#include "compiled/emit/llvm/squares.hpp"
#include "compiled/ir/access.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using llvm::Value;
using loops::Binder;
using spec::Expr;

namespace {

/// What adds a term of the contraction to its sum.
Selected product_adder(const loops::Contract& c, const Machine& machine) {
  const Expr sum = spec::read(-1, Kind::real, {});  // a number in a register: any expression would do
  const auto found = select(c.left * c.right + sum, Rounding::once, machine);
  if (!found) throw InternalError("codegen: no instruction of this machine adds products that are rounded once");
  return *found;
}

}  // namespace

ContractionEmitter::ContractionEmitter(llvm::Function& function, Emitter& emitter, const spec::System& system,
                                       const loops::Contract& c, Type real, llvm::Value* waiting, std::function<void()> element)
    : function_(function), emitter_(emitter), system_(system), c_(c), s_(c.schedule), real_(real),
      element_(std::move(element)), b_(emitter.builder()), add_product_(product_adder(c, emitter.machine())), loops_(loops_of_steps(s_, c.depth.size())),
      vector_(emitter.llvm_type(real, s_.lanes)), scalar_(emitter.llvm_type(real)), step_(scalar_), columns_(vector_), waiting_(waiting) {
  if (s_.adder != nullptr) {
    const auto bits = static_cast<unsigned>(8 * size_of(s_.adder->held)), terms = static_cast<unsigned>(s_.adder->terms);
    terms_ = s_.adder->terms;
    scalar_ = b_.getIntNTy(bits);
    step_ = b_.getIntNTy(bits * terms);
    columns_ = llvm::FixedVectorType::get(scalar_, s_.lanes * terms);
  }
  find_taps();
}

// --- tiles ---

void ContractionEmitter::run() {
  emitter_.set_real(real_);
  llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
  const auto vectors = static_cast<unsigned>(s_.tile_columns / s_.lanes);
  const std::uint64_t room = static_cast<std::uint64_t>(s_.tile_rows) * vectors;
  if (s_.depth.blocks > 1) block_ = entry.CreateAlloca(b_.getInt64Ty());
  for (std::uint64_t i = 0; i < room * static_cast<std::uint64_t>(s_.side_by_side); ++i) sums_.push_back(entry.CreateAlloca(vector_));
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
      count_up(b_, from, to, [&](Value* row_tile) { wanted_tile({height, vectors, last}, row_tile, column_tile); });
    };
    if (whole > 0) rows(first, clipped(after, whole, false), s_.tile_rows);
    if (rest > 0) rows(clipped(first, whole, true), clipped(after, whole + 1, false), rest);
  });
  emitter_.forget();
}

ContractionEmitter::Source ContractionEmitter::source(const Expr& read, const Binder& along) {
  const loops::Affine element = loops::element_number(read->args, system_[read->tensor].dims);
  const Access access = *access_along(element, along.variable);
  return {emitter_.element_pointer(read), access.inner, *steps_along(element, c_.depth), access.outer};
}

/// A tile unless none of its elements is read. The inequality holds somewhere if it does in the corner where it is weakest.
void ContractionEmitter::wanted_tile(const Tile& t, Value* row_tile, Value* column_tile) {
  if (!c_.wanted.valid()) return tile(t, row_tile, column_tile);
  const loops::Affine least = *at_least_zero(c_.wanted);
  const auto corner = [&](const Binder& along, Value* number_of_tile, std::int64_t size, std::int64_t there) {
    Value* first = b_.CreateNSWMul(number_of_tile, number(size));
    emitter_.bind(along.variable, least.coefficient(along.variable) > 0 ? b_.CreateNSWAdd(first, number(there - 1)) : first, along.extent);
  };
  emitter_.forget();
  corner(c_.row, row_tile, s_.tile_rows, t.rows);
  corner(c_.column, column_tile, s_.tile_columns, (static_cast<std::int64_t>(t.vectors) - 1) * s_.lanes + t.last);
  Value* wanted = emitter_.emit(c_.wanted, nullptr);
  only_if(b_, wanted, "wanted", [&] {
    emitter_.forget();
    tile(t, row_tile, column_tile);
  });
  emitter_.forget();
}

void ContractionEmitter::tile(const Tile& t, Value* row_tile, Value* column_tile) {
  emitter_.bind(c_.row.variable, b_.CreateNSWMul(row_tile, number(s_.tile_rows)), c_.row.extent);
  emitter_.bind(c_.column.variable, b_.CreateNSWMul(column_tile, number(s_.tile_columns)), c_.column.extent);
  for (const Binder& b : c_.depth) emitter_.bind(b.variable, number(0), b.extent);
  Sources from{source(c_.left, c_.row), source(c_.right, c_.column), {}};
  if (c_.guard.valid()) from.guard = source(c_.guard, c_.column);
  ahead_ = s_.fetch_ahead ? next_panel(t, from.right, row_tile, column_tile) : nullptr;
  fetch_pieces(row_tile, column_tile);
  ask_taps(t, row_tile);
  add_up(t, from);
  if (s_.across) elements_across(t, row_tile, column_tile);
  else elements(t, row_tile, column_tile);
}

/// Where this tile's share of the next panel begins: a line for each step of the depth; the tiles above each other take
/// turns. The last panel stands for the one after it, so that nothing beyond is touched.
Value* ContractionEmitter::next_panel(const Tile& t, const Source& right, Value* row_tile, Value* column_tile) {
  const std::int64_t last = parts(c_.column.extent, s_.tile_columns) - 1;
  Value* there = b_.CreateSelect(b_.CreateICmpSLT(column_tile, number(last)), number(right.next), number(0));
  Value* share = b_.CreateURem(row_tile, number(t.vectors));
  return b_.CreateInBoundsGEP(scalar_, advanced(right.begin, share, c_.depth[0].extent * s_.lanes * terms_), there);
}

/// This tile's share of what the next turn copies. What is fetched beyond the end of a piece does no harm.
void ContractionEmitter::fetch_pieces(Value* row_tile, Value* column_tile) {
  constexpr auto line = threshold("line_bytes");
  for (const loops::FetchAhead& piece : c_.ahead) {
    const std::int64_t tiles = piece.blocks * s_.block_rows * s_.block_columns;
    const std::int64_t lines = parts(piece.bytes, line * tiles);
    Value* row = b_.CreateNSWSub(row_tile, emitter_.emit(c_.first_row, nullptr));
    Value* column = b_.CreateNSWSub(column_tile, emitter_.emit(c_.first_column, nullptr));
    Value* number = b_.CreateNSWAdd(b_.CreateNSWMul(emitter_.emit(piece.number, nullptr), this->number(s_.block_rows)), row);
    number = b_.CreateNSWAdd(b_.CreateNSWMul(number, this->number(s_.block_columns)), column);
    Value* first = emitter_.element_pointer(piece.first);
    Value* begin = b_.CreateNSWMul(number, this->number(lines * line));
    count_up(b_, this->number(0), this->number(lines), [&](Value* i) {
      emitter_.prefetch(b_.CreateGEP(b_.getInt8Ty(), first, b_.CreateNSWAdd(begin, b_.CreateNSWMul(i, this->number(line)))));
    });
  }
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
      emitter_.enter_lanes(c_.column.variable, first, s_.lanes, lanes_of(t, v), true);
      emitter_.define(c_.target, b_.CreateLoad(vector_, sum(static_cast<std::size_t>(r) * t.vectors + v)));
      element_();
      emitter_.leave_lanes();
    }
  }
}

/// The finished elements, column by column in vectors of rows: squares of the tile change places.
void ContractionEmitter::elements_across(const Tile& t, Value* row_tile, Value* column_tile) {
  Value* first_row = b_.CreateNSWMul(row_tile, number(s_.tile_rows));
  Value* first_column = b_.CreateNSWMul(column_tile, number(s_.tile_columns));
  for (std::int64_t r = 0; r < t.rows; r += s_.lanes) {
    const auto height = static_cast<unsigned>(std::min<std::int64_t>(s_.lanes, t.rows - r));
    llvm::Constant* tail = height == s_.lanes ? nullptr : first_lanes(b_, s_.lanes, height);
    Value* row = b_.CreateNSWAdd(first_row, number(r));
    for (unsigned v = 0; v < t.vectors; ++v) {
      std::vector<Value*> square(s_.lanes, llvm::Constant::getNullValue(vector_));
      for (unsigned i = 0; i < height; ++i) square[i] = b_.CreateLoad(vector_, sum(static_cast<std::size_t>(r + i) * t.vectors + v));
      change_places(b_, square);
      const unsigned columns = v + 1 == t.vectors ? t.last : s_.lanes;
      for (unsigned i = 0; i < columns; ++i) {
        emitter_.bind(c_.column.variable, b_.CreateNSWAdd(first_column, number(static_cast<std::int64_t>(v) * s_.lanes + i)), c_.column.extent);
        emitter_.bind(c_.row.variable, row, c_.row.extent);
        emitter_.enter_lanes(c_.row.variable, row, s_.lanes, tail);
        emitter_.define(c_.target, square[i]);
        element_();
        emitter_.leave_lanes();
      }
    }
  }
}

/// Which lanes of a vector are columns; null when all are.
llvm::Constant* ContractionEmitter::lanes_of(const Tile& t, unsigned vector) {
  if (vector + 1 < t.vectors || t.last == s_.lanes) return nullptr;
  return first_lanes(b_, s_.lanes, t.last);
}

}  // namespace etalon::compiled
