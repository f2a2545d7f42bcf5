#include "compiled/schedule/strips.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/contraction.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/local_definition.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/ir/windows.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/schedule/strip_groups.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// Whether all who read a value may as well compute it. Readers may in turn be computed by theirs.
bool keeps_bits_in_readers(const System& system, const Equation& equation) {
  const LocalDefinition local = definition_in(system, equation);
  if (!local.why_not.empty()) return false;
  return std::all_of(system.equations.begin(), system.equations.end(), [&](const Equation& e) {
    Reader reader = reader_of(system, e);
    reader.real_target = reader.real_target && !is_slight(system, e);
    return !reads(e.value, equation.target) || keeps_bits(local, reader);
  });
}

/// Writes the equations of one group.
class Rewriting {
 public:
  Rewriting(System& system, const Machine& machine, const ScheduleOptions& options, const WideFamily& family, const StripGroup& group,
            const std::vector<bool>& free, Deciding& deciding)
      : system_(system), machine_(machine), options_(options), deciding_(deciding), group_(group), free_(free) {
    axes_ = family.outer;
    axes_.push_back(group.axis);
    axes_.push_back(family.other(group.axis));
    find_factors();
    for (const std::size_t m : group.members) {
      const Equation& e = system.equations[m];
      writer_[e.target] = m;
      if (!factors_.contains(e.target) && is_slight(system, e) && keeps_bits_in_readers(system, e)) computed_by_readers_.insert(m);
    }
  }

  /// The equations with their loops, in order.
  /// \param name of the group: the address of its first reader
  std::vector<std::pair<Equation, Strip>> run(std::size_t number, const std::string& name) {
    number_ = number;
    std::vector<std::pair<Equation, Strip>> result;
    for (const WideReader& r : group_.readers) waiting_.push_back(&r);
    for (const std::size_t m : group_.members) {
      if (is_computed_by_readers(m)) continue;
      result.emplace_back(own(system_.equations[m]), Strip{number_, 1, 1, loops_of_member()});
      while (take_reader(result)) {
      }
    }
    if (!waiting_.empty()) throw InternalError("strips: " + system_[system_.equations[waiting_.front()->equation].target].name + " waits for nothing");
    for (auto& [e, strip] : result) {
      if (e.value.form() == Form::reduce && e.target >= first_own_) strip.wanted = wanted_of(e, result);
    }
    choose_rows(result, name);
    return result;
  }

 private:
  /// The first reader whose values are there, so that they are forgotten soon. \returns whether there was one.
  bool take_reader(std::vector<std::pair<Equation, Strip>>& result) {
    const auto ready = std::find_if(waiting_.begin(), waiting_.end(), [&](const WideReader* r) { return is_ready(system_.equations[r->equation].value); });
    if (ready == waiting_.end()) return false;
    Equation e = system_.equations[(*ready)->equation];
    e.value = rewritten(e.value);
    result.emplace_back(std::move(e), Strip{number_, 1, 1, (*ready)->shared});
    waiting_.erase(ready);
    return true;
  }

  /// Whether what an expression reads of the group is computed.
  bool is_ready(const Expr& e) const {
    if (e.form() == Form::read) {
      if (std::any_of(waiting_.begin(), waiting_.end(), [&](const WideReader* r) { return system_.equations[r->equation].target == e->tensor; })) return false;
      const auto member = writer_.find(e->tensor);
      if (member != writer_.end() && !own_.contains(e->tensor) && !(is_computed_by_readers(member->second) && is_ready(system_.equations[member->second].value))) return false;
    }
    return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return is_ready(a); });
  }

  /// An inequality under which alone the elements of a value are read, if there is one. Over the value's binders.
  static Expr wanted_of(const Equation& value, const std::vector<std::pair<Equation, Strip>>& equations) {
    std::optional<std::vector<Expr>> common;
    for (const auto& [e, strip] : equations) collect_conditions(e.value, value, {}, common);
    for (const Expr& condition : common.value_or(std::vector<Expr>{})) {
      if (at_least_zero(condition)) return condition;
    }
    return {};
  }

  /// Keeps of `common` the conditions that are known wherever `e` reads the value.
  static void collect_conditions(const Expr& e, const Equation& value, const std::vector<Expr>& known, std::optional<std::vector<Expr>>& common) {
    if (e.form() == Form::read && e->tensor == value.target) {
      spec::Substitution by;
      for (std::size_t a = 0; a < e->args.size(); ++a) {
        if (e->args[a].form() == Form::variable) by.emplace(e->args[a]->variable, spec::variable(value.binders[a]));
      }
      std::vector<Expr> here;
      for (const Expr& k : known) {
        const std::vector<spec::VariableId> free = spec::free_variables(k);
        if (std::all_of(free.begin(), free.end(), [&](spec::VariableId v) { return by.contains(v); })) here.push_back(spec::substitute(k, by));
      }
      if (!common) common = here;
      std::erase_if(*common, [&](const Expr& c) { return std::find(here.begin(), here.end(), c) == here.end(); });
    }
    for (std::size_t a = 0; a < e->args.size(); ++a) {
      std::vector<Expr> inside = known;
      const bool chosen = (e.form() == Form::select || e.form() == Form::reduce) && a == 1;
      if (chosen) {
        for (const Expr& c : conditions_of(e->args[0])) inside.push_back(c);
      }
      collect_conditions(e->args[a], value, inside, common);
    }
  }

  /// What tiles read stays a tensor.
  void find_factors() {
    for (const WideReader& r : group_.readers) {
      const auto seen = recognise_contraction(system_, system_.equations[r.equation]);
      if (const auto* c = std::get_if<Contraction>(&seen)) {
        for (const Expr& factor : {c->left, c->right}) {
          if (factor.form() == Form::read) factors_.insert(factor->tensor);
        }
      }
    }
  }

  bool is_computed_by_readers(std::size_t m) const { return computed_by_readers_.contains(m); }

  /// All but the last, in the order of the group's own tensors.
  std::vector<std::size_t> loops_of_member() const {
    std::vector<std::size_t> loops;
    for (std::size_t a = 0; a + 1 < axes_.size(); ++a) loops.push_back(a);
    return loops;
  }

  template <class T>
  std::vector<T> in_own_order(const std::vector<T>& all, TensorId of) const {
    return at_axes(at_axes(all, counting_axes(system_[of].dims)), axes_);
  }

  /// The equation of a member over loops of its own, into a tensor of the group's own.
  Equation own(const Equation& e) {
    Equation result;
    result.origin = e.origin;
    spec::Substitution by;
    std::vector<Binder> binders;
    for (const Binder& b : e.binders) {
      binders.push_back(system_.bind(b.name, b.extent));
      by.emplace(b.variable, b.extent == 1 ? spec::integer(0) : spec::variable(binders.back()));
    }
    result.value = rewritten(spec::substitute(spec::refresh(system_, e.value), by));
    result.binders = in_own_order(binders, e.target);
    result.place = spec::variables(result.binders);
    result.value = sharing(e, result.value, result.binders, {});
    if (result.value.form() == Form::select) chosen_.push_back(result);
    Dims dims;
    for (const Binder& b : result.binders) dims.push_back(b.extent);
    const auto size = static_cast<std::int64_t>(size_of(system_[e.target].dtype));
    if (std::int64_t& columns = dims[dims.rank - 1]; columns * size % threshold("conflicting_strip_bytes") == 0) columns += threshold("line_bytes") / size;
    result.target = system_.add_tensor(fmt::format("{}.strip{}", system_[e.target].name, number_), system_[e.target].dtype, dims);
    own_[e.target] = result.target;
    if (!chosen_.empty() && chosen_.back().target < 0) chosen_.back().target = result.target;
    return result;
  }

  /// What an earlier value is where its condition holds is read from it where the same condition is known to hold.
  Expr sharing(const Equation& equation, const Expr& e, const std::vector<Binder>& binders, std::vector<Expr> known) const {
    for (const Equation& c : chosen_) {
      spec::Substitution by;
      for (std::size_t a = 0; a < binders.size(); ++a) by.emplace(c.binders[a].variable, spec::variable(binders[a]));
      if (!(spec::substitute(c.value->args[1], by) == e) || !is_same_type(c, equation, e)) continue;
      if (std::find(known.begin(), known.end(), spec::substitute(c.value->args[0], by)) != known.end()) return system_.at(c.target, spec::variables(binders));
    }
    std::vector<Expr> args;
    for (std::size_t a = 0; a < e->args.size(); ++a) {
      std::vector<Expr> here = known;
      if (e.form() == Form::select && a == 1) here.push_back(e->args[0]);
      args.push_back(sharing(equation, e->args[a], binders, std::move(here)));
    }
    return args.empty() ? e : spec::with_args(e, std::move(args));
  }

  /// Whether a part of an equation is computed there in the type in which another one stores it.
  bool is_same_type(const Equation& stored, const Equation& equation, const Expr& part) const {
    return arithmetic_type(system_, stored) == arithmetic_type(system_, equation) && type_of_part(system_, equation, part) == system_[stored.target].dtype;
  }

  /// An expression that reads the group's own tensors.
  Expr rewritten(const Expr& e) const {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(rewritten(a));
    if (e.form() == Form::read) {
      if (const auto copy = own_.find(e->tensor); copy != own_.end()) return system_.at(copy->second, in_own_order(args, e->tensor));
      if (const Equation* inside = equation_inside(e->tensor)) {
        spec::Substitution by;
        for (std::size_t a = 0; a < args.size(); ++a) by.emplace(inside->binders[a].variable, args[a]);
        return spec::substitute(rewritten(inside->value), by);
      }
    }
    return args.empty() ? e : spec::with_args(e, std::move(args));
  }

  /// The equation that readers compute for themselves.
  const Equation* equation_inside(TensorId t) const {
    if (const auto m = writer_.find(t); m != writer_.end()) return &system_.equations[m->second];
    if (!free_[static_cast<std::size_t>(t)]) return nullptr;
    const auto e = std::find_if(system_.equations.begin(), system_.equations.end(), [&](const Equation& x) { return x.target == t; });
    return &*e;
  }

  /// As many tiles of rows as fit half of the second cache with all that is computed of them; at least one.
  void choose_rows(std::vector<std::pair<Equation, Strip>>& equations, const std::string& name) const {
    std::int64_t tile = 0;
    std::int64_t vectors = 1;
    const std::int64_t row_bytes = bytes_of_row(equations);
    for (const auto& [e, strip] : equations) {
      const auto seen = recognise_contraction(system_, e);
      const auto* c = std::get_if<Contraction>(&seen);
      if (c == nullptr) continue;
      const Decision decision = decide(system_, e, *c, machine_, options_);
      if (!decision.schedule || c->row != strip.shared.back()) continue;
      vectors = std::max(vectors, decision.schedule->tile_columns / decision.schedule->lanes);
      tile = tile == 0 ? decision.schedule->tile_rows : std::min(tile, decision.schedule->tile_rows);
    }
    tile = machine_.is_grid() ? rows_of_block(row_bytes, equations) : std::max<std::int64_t>(1, tile);
    const std::int64_t room = percent(machine_.middle_bytes, threshold("strip_percent")) / std::max<std::int64_t>(1, tile * row_bytes);
    std::int64_t rows = tile * (options_.always || machine_.is_grid() ? 1 : std::clamp<std::int64_t>(room, 1, threshold("most_strip_tiles")));
    if (const DecisionLine* line = deciding_.given("strip", name); line != nullptr && !machine_.is_grid()) {
      tile = line->number("tile_rows", 1, machine_.vector_registers);
      const std::int64_t registers = registers_of_tile(tile, vectors);
      if (registers > machine_.vector_registers) line->refuse(fmt::format("the tile takes {} registers, and there are {}", registers, machine_.vector_registers));
      rows = line->number("rows", tile, std::numeric_limits<int>::max());
      if (rows % tile != 0) line->refuse(fmt::format("rows are whole tiles of {}, found {}", tile, rows));
    }
    deciding_.take({"strip", name, {{"rows", std::to_string(rows)}, {"tile_rows", std::to_string(tile)}}});
    for (auto& [e, strip] : equations) {
      strip.rows = rows;
      strip.tile_rows = tile;
    }
  }

  /// Rows that a block of a grid has at once: as many as memory that it shares holds beside their tiles, or, where it holds too few of them and they
  /// lie elsewhere, as many as make tiles worth while.
  std::int64_t rows_of_block(std::int64_t row_bytes, const std::vector<std::pair<Equation, Strip>>& equations) const {
    std::int64_t extent = 1;
    for (const auto& [e, strip] : equations) extent = std::max(extent, e.binders[strip.shared.back()].extent);
    std::int64_t rows = most_rows_of_block;
    while (rows > least_rows_of_block && (rows * row_bytes > machine_.shared_bytes - bytes_beside_rows || rows >= 2 * extent)) rows /= 2;
    return rows * row_bytes > machine_.shared_bytes - bytes_beside_rows && extent > rows ? 2 * rows : rows;
  }

  /// What is kept of a row at most: from its equation to the last one that reads it, which may write in its place.
  std::int64_t bytes_of_row(const std::vector<std::pair<Equation, Strip>>& equations) const {
    std::vector<std::int64_t> kept(equations.size());
    for (const auto& pair : own_) {
      const TensorId to = pair.second;
      std::size_t first = equations.size();
      std::size_t last = 0;
      for (std::size_t i = 0; i < equations.size(); ++i) {
        if (equations[i].first.target == to) first = i;
        if (reads(equations[i].first.value, to)) last = i;
      }
      const Dims& dims = system_[to].dims;
      for (std::size_t i = first; i < last; ++i) kept[i] += dims[dims.rank - 1] * static_cast<std::int64_t>(size_of(system_[to].dtype));
    }
    return *std::max_element(kept.begin(), kept.end());
  }

  static constexpr std::int64_t most_rows_of_block = 32;
  static constexpr std::int64_t least_rows_of_block = 8;
  static constexpr std::int64_t bytes_beside_rows = 14 << 10;  ///< for both factors of some steps of the largest tile, and what else is shared

  System& system_;
  const Machine& machine_;
  const ScheduleOptions& options_;
  Deciding& deciding_;
  const StripGroup& group_;
  const std::vector<bool>& free_;
  std::size_t number_ = 0;
  TensorId first_own_ = static_cast<TensorId>(system_.tensors.size());  ///< later tensors are the group's
  std::vector<std::size_t> axes_;  ///< of the family, in the order of the group's own tensors
  std::vector<const WideReader*> waiting_;  ///< whose equations do not stand yet
  std::set<TensorId> factors_;
  std::set<std::size_t> computed_by_readers_;  ///< members
  std::unordered_map<TensorId, std::size_t> writer_;
  std::unordered_map<TensorId, TensorId> own_;
  std::vector<Equation> chosen_;  ///< own ones whose value is an if
};

/// Per tensor, whether it is computed from indices in a few operations and as large as a family.
std::vector<bool> free_values(const System& system, const std::vector<WideFamily>& families, const Uses& uses) {
  std::vector<bool> free(system.tensors.size());
  for (const Equation& e : system.equations) {
    const auto t = static_cast<std::size_t>(e.target);
    const bool alike = std::any_of(families.begin(), families.end(), [&](const WideFamily& f) { return f.dims == counting_dims(system[e.target].dims); });
    if (!alike || uses.writers[t] != 1 || uses.is_output[t] || uses.recurrent[t] || !fills_in_order(system, e) || !is_slight(system, e) || !keeps_bits_in_readers(system, e)) continue;
    free[t] = !holds(e.value, [](const Expr& x) { return x.form() == Form::read; });
  }
  return free;
}

/// Leaves out the values computed from indices that nobody reads any more.
void drop_unread(System& system, const std::vector<bool>& free, std::vector<std::optional<Strip>>& strips) {
  std::set<TensorId> read;
  for (const Equation& e : system.equations) for_each_read(e.value, [&](const Expr& x) { read.insert(x->tensor); });
  for (std::size_t i = system.equations.size(); i-- > 0;) {
    const TensorId t = system.equations[i].target;
    if (static_cast<std::size_t>(t) >= free.size() || !free[static_cast<std::size_t>(t)] || read.contains(t)) continue;
    system.equations.erase(system.equations.begin() + static_cast<std::ptrdiff_t>(i));
    strips.erase(strips.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

std::vector<std::optional<Strip>> form_strips(System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) {
  std::vector<std::optional<Strip>> strips(system.equations.size());
  const std::vector<WideFamily> families = wide_families(system, machine, options, deciding);
  const std::vector<std::string> names = addresses(system);
  if (families.empty()) return strips;
  strips.clear();
  const StripSteps steps = group_readers(system, families);
  const std::vector<bool> free = free_values(system, families, uses_of(system));
  std::vector<Equation> result;
  for (std::size_t s = 0; s < steps.order.size(); ++s) {
    if (steps.group[s] == StripSteps::none) {
      for (const std::size_t i : steps.order[s]) result.push_back(system.equations[i]);
      strips.resize(result.size());
      continue;
    }
    const StripGroup& group = steps.groups[steps.group[s]];
    for (auto& [equation, strip] : Rewriting(system, machine, options, families[group.family], group, free, deciding)
                                        .run(steps.group[s], names[group.readers.front().equation])) {
      result.push_back(std::move(equation));
      strips.emplace_back(std::move(strip));
    }
  }
  system.equations = std::move(result);
  drop_unread(system, free, strips);
  return strips;
}

}  // namespace etalon::compiled
