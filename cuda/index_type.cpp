#include "cuda/index_type.hpp"

#include <algorithm>
#include <cstdint>

#include "compiled/ir/accesses.hpp"
#include "cuda/grid.hpp"

namespace etalon::cuda {

using compiled::loops::Extents;
using spec::Expr;
using spec::Form;

namespace {

/// With room for one step of a grid's loop.
constexpr std::int64_t most = INT32_MAX - most_blocks * static_cast<std::int64_t>(sized_for.block_threads);

bool is_of_loops(const Expr& e, const Extents& loops) {
  bool known = true;
  spec::for_each(e, [&](const Expr& x) { known = known && x.form() != Form::read && (x.form() != Form::variable || loops.contains(x->variable)); });
  return known;
}

/// What data decide is computed in 64 bits anyway.
bool fits(const Expr& e, const Extents& loops) {
  bool all = true;
  spec::for_each(e, [&](const Expr& x) {
    if (!all || x.kind() != Kind::integer || !is_of_loops(x, loops)) return;
    const auto range = compiled::loops::range_of(x, loops);
    all = range && range->first >= -most && range->second <= most;
  });
  return all;
}

}  // namespace

std::string_view index_type(const spec::System& system, const compiled::loops::Nest& nest) {
  const compiled::loops::Accesses all = compiled::loops::accesses_of(nest.steps);
  const bool narrow = std::ranges::all_of(nest.buffers, [&](const compiled::loops::Buffer& b) { return system[b.tensor].dims.count() <= most; }) &&
                      std::ranges::all_of(all.extents, [](const auto& loop) { return loop.second <= most; }) && turns_of(nest) <= most &&
                      std::ranges::all_of(all.expressions, [&](const Expr& e) { return fits(e, all.extents); });
  return narrow ? "int" : "int64_t";
}

}  // namespace etalon::cuda
