// Squares of elements that change places in registers.

#include "compiled/emit/llvm/counting.hpp"
#include "compiled/emit/llvm/nest_parts.hpp"
#include "compiled/emit/llvm/squares.hpp"

namespace etalon::compiled {
/// Reads `columns` elements of each of width rows; writes as many rows of width elements.
void NestEmitter::square(const loops::Transpose& t, Value* across, Value* down, unsigned columns) {
  llvm::Constant* tail = columns == t.width ? nullptr : first_lanes(b_, t.width, columns);
  const Type type = emitter_.type_of(t.value);
  std::vector<Value*> rows;
  at(&t.target);
  for (unsigned i = 0; i < t.width; ++i) {
    emitter_.bind(t.down.variable, b_.CreateNSWAdd(down, b_.getInt64(i)), t.down.extent);
    emitter_.bind(t.across.variable, across, t.across.extent);
    emitter_.enter_lanes(t.across.variable, across, t.width, tail, true);
    rows.push_back(emitter_.splat(emitter_.emit_as(t.value, type, nullptr)));
    emitter_.leave_lanes();
  }
  at(&t.store);
  change_places(b_, rows);
  for (unsigned i = 0; i < columns; ++i) {
    emitter_.bind(t.across.variable, b_.CreateNSWAdd(across, b_.getInt64(i)), t.across.extent);
    emitter_.bind(t.down.variable, down, t.down.extent);
    emitter_.enter_lanes(t.down.variable, down, t.width, nullptr, true);
    emitter_.define(t.target, rows[i]);
    emitter_.store(t.store, nullptr);
    emitter_.leave_lanes();
  }
}

void NestEmitter::step(const loops::Transpose& t, const Step& s) {
  emitter_.set_real(s.real);
  const auto constant = [&](std::int64_t v) { return b_.getInt64(static_cast<std::uint64_t>(v)); };
  const std::int64_t whole = t.across.extent / t.width;
  const auto rest = static_cast<unsigned>(t.across.extent % t.width);
  count(constant(0), constant(t.down.extent / t.width), [&](Value* i) {
    Value* down = b_.CreateNSWMul(i, constant(t.width));
    count(constant(0), constant(whole), [&](Value* j) { square(t, b_.CreateNSWMul(j, constant(t.width)), down, t.width); });
    if (rest > 0) square(t, constant(whole * t.width), down, rest);
  });
}

}  // namespace etalon::compiled
