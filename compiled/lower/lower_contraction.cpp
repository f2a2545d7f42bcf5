// A scheduled contraction with what is done with its elements: loops over blocks of tiles around one step.
#include <algorithm>
#include <optional>
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

/// What the turn at hand does before or after its tiles.
void Lowering::lower_in_turn(const Kernel& kernel, const Statement& statement) {
  if (!lower_transposed(aligned(kernel, statement))) lower_inner(kernel, statement, false);
  lanes_ = {};
}

namespace {

/// A second reduction of the terms that the first one reduces, over the first one's variables; nothing where its terms,
/// where they count, or the elements are others.
std::optional<Equation> of_same_terms(const Equation& first, const Equation& second) {
  if (first.value.form() != spec::Form::reduce || second.value.form() != spec::Form::reduce) return std::nullopt;
  if (first.binders.size() != second.binders.size() || first.value->binders.size() != second.value->binders.size()) return std::nullopt;
  spec::Substitution by;
  const auto rename = [&](const std::vector<Binder>& from, const std::vector<Binder>& to) {
    for (std::size_t b = 0; b < from.size(); ++b) {
      if (from[b].extent != to[b].extent) return false;
      by.emplace(from[b].variable, spec::variable(to[b]));
    }
    return true;
  };
  if (!rename(second.binders, first.binders) || !rename(second.value->binders, first.value->binders)) return std::nullopt;
  Equation e = second;
  e.binders = first.binders;
  std::vector<Expr> args;
  for (const Expr& a : second.value->args) args.push_back(spec::substitute(a, by));
  if (!(args[0] == first.value->args[0]) || !(args[1] == first.value->args[1])) return std::nullopt;
  for (Expr& p : e.place) p = spec::substitute(p, by);
  e.value = args.size() > 2 ? spec::reduce(second.value->reduction, first.value->binders, args[0], args[1], args[2])
                            : spec::reduce(second.value->reduction, first.value->binders, args[0], args[1]);
  return e;
}

}  // namespace

/// Two reductions of the same terms, such as the maxima of pooling windows and where they stand: one loop over the elements,
/// in which both are done before either is stored, so that the terms are read once. `number`
/// is the first equation's.
void Lowering::lower_together(std::size_t number, const Equation& first, const Equation& second) {
  std::vector<Binder> own;
  for (const Binder& b : first.binders) {
    if (!is_shared(b)) own.push_back(b);
  }
  std::vector<Candidate> candidates;
  for (const Binder& b : own) candidates.push_back({b, nullptr});
  const LaneChoice by_cost =
      choose_lanes(system_, {{first.target, first.place, first.value}, {second.target, second.place, second.value}}, candidates, vectors_for(first));
  lanes_ = decisions_.follow(number, by_cost, candidates);
  in_lanes_last(own);
  for (const Binder& b : own) open(b);
  for (const Equation* e : {&first, &second}) {
    start(*e);
    (void)strip(e->value, {});
  }
  assign(first);
  assign(second);
  for (std::size_t i = 0; i < own.size(); ++i) close();
  lanes_ = {};
}

/// What a turn does after its tiles. A reduction moves ahead to an earlier one of the same terms: nothing between them writes
/// what both read, or reads what it writes.
void Lowering::lower_after_tiles(const Kernel& kernel, std::size_t first) {
  std::vector<bool> done(kernel.statements.size());
  for (std::size_t i = first; i < kernel.statements.size(); ++i) {
    const Statement& x = kernel.statements[i];
    if (!x.in_turn || done[i]) continue;
    const Equation e = aligned(kernel, x);
    std::optional<Equation> same;
    for (std::size_t j = i + 1; j < kernel.statements.size() && !same; ++j) {
      if (!kernel.statements[j].in_turn || done[j]) continue;
      const Equation other = aligned(kernel, kernel.statements[j]);
      if (arithmetic_type(system_, e) == arithmetic_type(system_, other)) same = of_same_terms(e, other);
      done[j] = same.has_value();
    }
    if (same) lower_together(x.equation, e, *same);
    else lower_in_turn(kernel, x);
  }
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
    for_each(copy.value, [&](const Expr& e) {
      if (e.form() != spec::Form::read || e->args.empty() || !(e->args[0] == spec::variable(turn))) return;
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
  for (const std::int64_t extent : kernel.loops) shared_.push_back({next_++, extent, "s" + std::to_string(shared_.size())});
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
    std::for_each(tiles, kernel.statements.end(), [&](const Statement& x) {
      if (!x.in_turn) assign(aligned(kernel, x));
    });
  });
  for (; opened > 1; --opened) close();
  lower_after_tiles(kernel, contraction_of(kernel));
  if (opened == 1) close();
}

}  // namespace etalon::compiled::loops
