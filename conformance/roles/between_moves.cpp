#include "conformance/roles/fitting_calls.hpp"
#include "conformance/roles/parts.hpp"

namespace etalon::conformance {

// Compilers take the moves out where they are each other's inverse, and forget that the axes must be others or the same.
void add_between_moves(Composition& c) {
  static const std::vector<Dims> extents{{4, 3, 5}, {3, 4}, {3, 3, 3}, {2, 3, 3, 4}};
  constexpr int draws = 6;
  for (int k = 0; k < draws; ++k) {
    const spec::ValueType type{c.wish.dtype, c.draw.pick(extents)};
    const auto inner = drawn_on(c, *c.wish.about, type);
    if (!inner || inner->result() != type) continue;
    const bool apart = c.draw.chance(0.7);
    const auto move = move_that_keeps(c, type, apart ? axes_named(*inner, type.dims.rank) : std::vector<std::size_t>{});
    if (!move) continue;
    const auto before = c.draft.add_hidden(*move);
    const auto made = before ? c.draft.add_hidden(*inner, {before}) : std::nullopt;
    if (made) c.draft.add_hidden(*move, {made});
    if (before) return;
  }
}

}  // namespace etalon::conformance
