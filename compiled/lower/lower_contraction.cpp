// A scheduled contraction with what is done with its elements: loops over blocks of tiles around one step.
#include <algorithm>
#include <utility>
#include <vector>

#include "compiled/lower/lowering.hpp"

namespace etalon::compiled::loops {

using spec::Equation;

/// Opens the loop over blocks of tiles, if there is more than one. \returns the first tile of a block.
Expr Lowering::open_blocks(std::int64_t tiles, std::int64_t block, const char* name, std::size_t& opened) {
  const std::int64_t blocks = parts(tiles, block);
  if (blocks == 1) return spec::integer(0);
  const Binder b{next_++, blocks, name};
  open(b);
  ++opened;
  return spec::variable(b) * spec::integer(block);
}

/// What the turn at hand copies before its tiles.
void Lowering::lower_in_turn(const Kernel& kernel, const Statement& statement) {
  if (!lower_transposed(aligned(kernel, statement))) lower_inner(kernel, statement, false);
  lanes_ = {};
}

/// What the next turn of the outermost loop copies: the slices of tensors that belong to it alone.
std::vector<FetchAhead> Lowering::next_pieces(const Kernel& kernel, std::size_t outermost) const {
  const Binder& turn = shared_[*kernel.turn];
  FetchAhead ahead;
  ahead.number = spec::integer(0);
  for (std::size_t l = outermost + 1; l < open_.size(); ++l) {
    const Binder& b = open_[l].loop.binder;
    ahead.number = ahead.number * spec::integer(b.extent) + spec::variable(b);
    ahead.blocks *= b.extent;
  }
  const Expr next = spec::variable(turn) + spec::integer(1);
  const Expr inside = spec::select(spec::apply(spec::Primitive::lt, {next, spec::integer(turn.extent)}), next, spec::variable(turn));
  std::vector<FetchAhead> pieces;
  for (auto statement = kernel.statements.begin(); statement->in_turn; ++statement) {
    const Equation copy = aligned(kernel, *statement);
    for_each_read(copy.value, [&](const Expr& e) {
      if (e->args.empty() || !(e->args[0] == spec::variable(turn))) return;
      const Dims& dims = system_[e->tensor].dims;
      std::vector<Expr> first(dims.rank, spec::integer(0));
      first[0] = inside;
      ahead.first = spec::with_args(e, first);
      ahead.bytes = dims.count() / dims[0] * static_cast<std::int64_t>(size_of(system_[e->tensor].dtype));
      pieces.push_back(ahead);
    });
  }
  return pieces;
}

/// What tiles add up, at the first ones.
Contract Lowering::tiles_of(const Equation& e, const Schedule& s) {
  Contract c;
  c.schedule = s;
  c.row = e.binders[s.row];
  c.column = e.binders[s.column];
  c.depth = e.value->binders;
  c.first_row = c.first_column = spec::integer(0);
  c.left = strip(e.value->args[1]->args[0], {});
  c.right = strip(e.value->args[1]->args[1], {});
  const Expr& guard = e.value->args[0];
  if (s.guards_taps) c.taps = strip(guard, {});
  else if (guard.form() != spec::Form::number) c.guard = strip(guard->args[0], {});
  return c;
}

/// Appends tiles with what is done with their elements.
void Lowering::append_tiles(Contract c, const Equation& e, const std::function<void()>& elements) {
  const double before = work_;
  open(c.row);
  open(c.column);
  const Expr sum = fresh_register(Kind::real, open_.size() - 1);
  c.target = sum->variable;
  start(e);
  reductions_.push_back({{e.value, Expr{}}, sum});
  elements();
  // Vectors that multiply and add at once do as much in the time of one operation elsewhere.
  work_ = before + (work_ - before) / (2 * c.schedule.lanes);
  c.steps = std::move(open_.back().loop.steps);
  open_.resize(open_.size() - 2);
  std::erase_if(reductions_, [&](const auto& entry) { return depth_.at(entry.second->variable) >= open_.size(); });
  start(e);
  append(open_.size() - 1, step(std::move(c)));
}

void Lowering::lower_contraction(const Kernel& kernel) {
  const Schedule& s = *kernel.schedule;
  share(kernel);
  const auto tiles = kernel.statements.begin() + static_cast<std::ptrdiff_t>(contraction_of(kernel));
  const Equation e = aligned(kernel, *tiles);
  start(e);
  std::vector<Binder> outer;
  for (std::size_t a = 0; a < shared_.size(); ++a) {
    if (a != s.row && a != s.column) outer.push_back(shared_[a]);
  }
  std::stable_sort(outer.begin(), outer.end(), [](const Binder& a, const Binder& b) { return a.extent > b.extent; });
  if (kernel.turn) std::stable_partition(outer.begin(), outer.end(), [&](const Binder& b) { return b == shared_[*kernel.turn]; });
  for (const Binder& b : outer) {
    open(b);
    if (!kernel.turn || !(b == shared_[*kernel.turn])) continue;
    std::for_each(kernel.statements.begin(), tiles, [&](const Statement& x) { lower_in_turn(kernel, x); });
  }
  start(e);
  std::size_t opened = outer.size();
  Contract c = tiles_of(e, s);
  const std::int64_t row_tiles = parts(c.row.extent, s.tile_rows);
  const std::int64_t column_tiles = parts(c.column.extent, s.tile_columns);
  if (s.columns_outside) c.first_column = open_blocks(column_tiles, s.block_columns, "columns", opened);
  c.first_row = open_blocks(row_tiles, s.block_rows, "rows", opened);
  if (!s.columns_outside) c.first_column = open_blocks(column_tiles, s.block_columns, "columns", opened);
  if (kernel.turn) c.ahead = next_pieces(kernel, open_.size() - opened);
  append_tiles(std::move(c), e, [&] {
    std::for_each(tiles, kernel.statements.end(), [&](const Statement& x) { assign(aligned(kernel, x)); });
  });
  for (; opened > 0; --opened) close();
}

}  // namespace etalon::compiled::loops
