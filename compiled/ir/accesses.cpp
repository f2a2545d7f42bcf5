#include "compiled/ir/accesses.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace etalon::compiled::loops {

using spec::Form;

namespace {

class Survey {
 public:
  Accesses found;

  void expression(const Expr& e) {
    if (!e.valid()) return;
    found.expressions.push_back(e);
    spec::for_each(e, [&](const Expr& x) {
      if (x.form() == Form::variable) found.uses.insert(x->variable);
      if (x.form() == Form::read) found.elements.push_back({x->tensor, x->args, false});
    });
  }

  void step(const Loop& loop) {
    binder(loop.binder);
    expression(loop.limit);
    steps(loop.steps);
  }

  void step(const Reduce& r) {
    for (const Expr* e : {&r.reached, &r.guard, &r.body, &r.otherwise}) expression(*e);
    for (const Loop& loop : r.loops) step(loop);
    found.defines.insert(r.target);
  }

  void step(const Store& store) {
    for (const Expr& p : store.place) expression(p);
    expression(store.value);
    expression(store.guard);
    if (store.add) found.elements.push_back({store.tensor, store.place, false});
    found.elements.push_back({store.tensor, store.place, true});
  }

  void step(const Define& d) {
    expression(d.value);
    found.defines.insert(d.target);
  }

  void step(const Contract& c) {
    found.in_tiles = true;
    binder(c.row);
    binder(c.column);
    for (const Binder& b : c.depth) binder(b);
    for (const Expr* e : {&c.left, &c.right, &c.guard, &c.taps, &c.first_row, &c.first_column, &c.wanted}) expression(*e);
    found.defines.insert(c.target);
    steps(c.steps);
  }

  void step(const Transpose& t) {
    found.in_tiles = true;
    binder(t.across);
    binder(t.down);
    expression(t.value);
    found.defines.insert(t.target);
    step(t.store);
  }

  void steps(const std::vector<Step>& all) {
    for (const Step& s : all) std::visit([&](const auto& one) { step(one); }, s.is);
  }

 private:
  void binder(const Binder& b) { found.extents[b.variable] = b.extent; }
};

using Range = std::pair<std::int64_t, std::int64_t>;

/// An index beside a variable v.
struct Index {
  std::optional<Range> all;   ///< its values
  std::int64_t factor = 0;    ///< c of c·v + r; 0 where it follows v in another way, or not at all
  std::optional<Range> rest;  ///< of r
  std::int64_t step = 1;      ///< all values are `constant` up to multiples of it; 0 where there is one value
  std::int64_t constant = 0;
};

Index index_beside(const Expr& index, spec::VariableId v, const Extents& extents) {
  const Affine form = affine(index);
  Index found{range_of(index, extents), 0, {}, form.opaque.empty() ? 0 : 1, form.constant};
  for (const auto& [variable, coefficient] : form.variables) found.step = std::gcd(found.step, coefficient);
  const bool elsewhere = std::any_of(form.opaque.begin(), form.opaque.end(), [&](const auto& term) { return mentions(term.second, v); });
  if (elsewhere || form.coefficient(v) == 0) return found;
  Extents at_zero = extents;
  at_zero[v] = 1;
  found.rest = range_of(index, at_zero);
  if (found.rest) found.factor = form.coefficient(v);
  return found;
}

/// Whether one index at some value of v is never the other at another value.
bool are_apart(const Index& a, const Index& b) {
  if (a.all && b.all && (a.all->second < b.all->first || b.all->second < a.all->first)) return true;
  if (const std::int64_t step = std::gcd(a.step, b.step); step > 1 && (a.constant - b.constant) % step != 0) return true;
  if (a.factor == 0 || a.factor != b.factor) return false;
  return std::max(a.rest->second, b.rest->second) - std::min(a.rest->first, b.rest->first) < std::abs(a.factor);
}

using Place = std::vector<Index>;

bool are_apart(const Place& a, const Place& b) {
  for (std::size_t axis = 0; axis < a.size(); ++axis) {
    if (are_apart(a[axis], b[axis])) return true;
  }
  return false;
}

}  // namespace

Accesses accesses_of(const Step& step) {
  Survey survey;
  std::visit([&](const auto& one) { survey.step(one); }, step.is);
  return std::move(survey.found);
}

Accesses accesses_of(const std::vector<Step>& steps) {
  Survey survey;
  survey.steps(steps);
  return std::move(survey.found);
}

Accesses accesses_of(const Expr& e) {
  Survey survey;
  survey.expression(e);
  return std::move(survey.found);
}

std::vector<Buffer> arguments_of(const std::vector<Step>& steps, const std::vector<Buffer>& own, const std::vector<TensorId>& zeroed) {
  std::vector<Buffer> arguments;
  const auto is = [](TensorId t) { return [t](const Buffer& b) { return b.tensor == t; }; };
  const auto note = [&](TensorId t, bool written) {
    if (std::any_of(own.begin(), own.end(), is(t))) return;
    auto found = std::find_if(arguments.begin(), arguments.end(), is(t));
    if (found == arguments.end()) found = arguments.insert(found, Buffer{.tensor = t});
    (written ? found->written : found->read) = true;
  };
  for (const TensorId t : zeroed) note(t, true);
  for (const Access& a : accesses_of(steps).elements) note(a.tensor, a.write);
  return arguments;
}

std::optional<Meeting> meeting(const spec::System& system, const Accesses& accesses, spec::VariableId v,
                               const std::function<bool(TensorId)>& is_own, const std::function<bool(TensorId, TensorId)>& share) {
  std::vector<Place> places;
  for (const Access& a : accesses.elements) {
    places.emplace_back();
    for (const Expr& index : a.place) places.back().push_back(index_beside(index, v, accesses.extents));
  }
  for (std::size_t w = 0; w < places.size(); ++w) {
    const Access& write = accesses.elements[w];
    if (!write.write || is_own(write.tensor)) continue;
    for (std::size_t a = 0; a < places.size(); ++a) {
      const Access& other = accesses.elements[a];
      if (other.tensor != write.tensor && !share(other.tensor, write.tensor)) continue;
      if (system[other.tensor].dims != system[write.tensor].dims || !are_apart(places[w], places[a])) return Meeting{write, other};
    }
  }
  return std::nullopt;
}

const Loop* lanes_loop(const Step& step) {
  const Loop* loop = std::get_if<Loop>(&step.is);
  if (const auto* r = std::get_if<Reduce>(&step.is)) loop = r->loops.size() == 1 ? &r->loops[0] : nullptr;
  return loop != nullptr && loop->in_lanes() ? loop : nullptr;
}

Loop* lanes_loop(Step& step) { return const_cast<Loop*>(lanes_loop(static_cast<const Step&>(step))); }

}  // namespace etalon::compiled::loops
