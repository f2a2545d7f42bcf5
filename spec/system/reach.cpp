#include "spec/system/reach.hpp"

#include <algorithm>
#include <unordered_map>

#include "spec/system/by_points.hpp"

namespace etalon::spec {

namespace {

std::string end(std::int64_t v) {
  if (v <= -Interval::unbounded) return "-inf";
  return v >= Interval::unbounded ? "inf" : std::to_string(v);
}

std::optional<Fault> fault_of_read(const System& system, const Expr& e, const Ranges& known) {
  const TensorInfo& tensor = system[e->tensor];
  for (std::size_t axis = 0; axis < e->args.size(); ++axis) {
    const Interval i = interval(e->args[axis], known);
    const std::int64_t n = tensor.dims[axis];
    if (i.low >= 0 && i.high < n) continue;
    const Visit found = visit(e->args[axis], n, known);
    if (found.within) continue;
    const std::string is = found.beyond ? std::to_string(*found.beyond) : "in " + end(i.low) + ".." + end(i.high);
    return Fault{"index " + std::to_string(axis) + " of " + tensor.name + " is " + is + ", wanted 0.." + std::to_string(n - 1), e, axis,
                 found.beyond};
  }
  return std::nullopt;
}

/// Takes what `a ≥ 0` says of each of its variables into their ranges; false when a range is then empty.
bool narrow(std::unordered_map<VariableId, Interval>& ranges, const Affine& a) {
  for (const Term& t : a.terms) {
    if (t.atom.form() != Form::variable) return true;
  }
  for (const Term& t : a.terms) {
    std::int64_t most = a.constant;  // of everything but this term
    for (const Term& other : a.terms) {
      if (&other == &t) continue;
      const Interval& r = ranges[other.atom->variable];
      if (r.low <= -Interval::unbounded || r.high >= Interval::unbounded) return true;
      most += other.coefficient * (other.coefficient > 0 ? r.high : r.low);
    }
    Interval& own = ranges[t.atom->variable];
    if (t.coefficient > 0) own.low = std::max(own.low, -floor_quotient(most, t.coefficient));
    if (t.coefficient < 0) own.high = std::min(own.high, floor_quotient(most, -t.coefficient));
    if (own.low > own.high) return false;
  }
  return true;
}

/// Whether the facts exclude each other, so that nothing is evaluated there.
bool impossible(const Ranges& known) {
  if (known.contradictory) return true;
  auto ranges = known.variables;
  for (const Affine& a : known.nonnegative) {
    if (!narrow(ranges, a)) return true;
    for (const Affine& b : known.nonnegative) {
      const Affine both = a + b;
      if (both.is_constant() && both.constant < 0) return true;
    }
  }
  return false;
}

bool is_extremum(Reduction r) {
  return r == Reduction::max || r == Reduction::min || r == Reduction::argmax || r == Reduction::argmin;
}

/// Whether the guard provably holds for some value of the binders: for all of a non-empty range, or at one corner.
bool provably_inhabited(const Expr& e, const Ranges& known) {
  for (const Binder& b : e->binders) {
    if (b.extent <= 0) return false;
  }
  Ranges inner = known;
  inner.bind(e->binders);
  if (decide(e->args[0], inner) == std::optional(true)) return true;
  for (const bool last : {false, true}) {
    Substitution corner;
    for (const Binder& b : e->binders) corner.emplace(b.variable, integer(last ? b.extent - 1 : 0));
    if (decide(substitute(e->args[0], corner), known) == std::optional(true)) return true;
  }
  constexpr std::int64_t few = 4096;
  std::int64_t points = 1;
  for (const Binder& b : e->binders) {
    if (b.extent > few || (points *= b.extent) > few) return false;
  }
  for (std::int64_t p = 0; p < points; ++p) {
    Substitution at;
    std::int64_t rest = p;
    for (std::size_t i = e->binders.size(); i-- > 0;) {
      at.emplace(e->binders[i].variable, integer(rest % e->binders[i].extent));
      rest /= e->binders[i].extent;
    }
    if (decide(substitute(e->args[0], at), known) == std::optional(true)) return true;
  }
  return false;
}

}  // namespace

void for_each_reached(const Expr& e, const Ranges& known,
                      const std::function<void(const Expr&, const Ranges&)>& visit) {
  const auto under = [&](std::size_t i, const Expr& condition, bool holds) {
    Ranges facts = known;
    holds ? facts.assume(condition) : facts.assume_not(condition);
    if (decide(condition, known) != std::optional(!holds) && !impossible(facts)) for_each_reached(e->args[i], facts, visit);
  };
  if (e.form() == Form::select || e.is(Primitive::logical_and) || e.is(Primitive::logical_or)) {
    for_each_reached(e->args[0], known, visit);
    under(1, e->args[0], !e.is(Primitive::logical_or));
    if (e.form() == Form::select) under(2, e->args[0], false);
  } else if (e.form() == Form::reduce) {
    Ranges inner = known;
    inner.bind(e->binders);
    const bool empty = std::any_of(e->binders.begin(), e->binders.end(), [](const Binder& b) { return b.extent <= 0; });
    if (!empty) for_each_reached(e->args[0], inner, visit);
    inner.assume(e->args[0]);
    if (!empty && !impossible(inner)) for_each_reached(e->args[1], inner, visit);
    if (e->args.size() > 2) for_each_reached(e->args[2], known, visit);
  } else {
    for (const Expr& a : e->args) for_each_reached(a, known, visit);
  }
  visit(e, known);
}

std::optional<Fault> first_fault(const System& system, const Expr& e, const Ranges& known) {
  const auto below = [&](std::size_t i, const Ranges& facts) { return first_fault(system, e->args[i], facts); };
  if (e.is(Primitive::logical_and) || e.is(Primitive::logical_or)) {
    if (auto fault = below(0, known)) return fault;
    Ranges beyond = known;
    e.is(Primitive::logical_and) ? beyond.assume(e->args[0]) : beyond.assume_not(e->args[0]);
    return below(1, beyond);
  }
  if (e.form() == Form::select) {
    if (auto fault = below(0, known)) return fault;
    const auto decided = decide(e->args[0], known);
    Ranges then = known;
    then.assume(e->args[0]);
    if (decided != std::optional(false) && !impossible(then)) {
      if (auto fault = below(1, then)) return fault;
    }
    Ranges otherwise = known;
    otherwise.assume_not(e->args[0]);
    return decided == std::optional(true) || impossible(otherwise) ? std::nullopt : below(2, otherwise);
  }
  if (e.form() == Form::reduce) {
    if (is_extremum(e->reduction) && e->args.size() < 3 && !provably_inhabited(e, known)) {
      return Fault{std::string(name_of(e->reduction)) + " may be over nothing and has no else", e, 0, std::nullopt};
    }
    for (const Binder& b : e->binders) {
      if (b.extent <= 0) return e->args.size() > 2 ? below(2, known) : std::nullopt;
    }
    Ranges inner = known;
    inner.bind(e->binders);
    if (auto fault = below(0, inner)) return fault;
    inner.assume(e->args[0]);
    if (!impossible(inner)) {
      if (auto fault = below(1, inner)) return fault;
    }
    return e->args.size() > 2 ? below(2, known) : std::nullopt;
  }
  for (std::size_t i = 0; i < e->args.size(); ++i) {
    if (auto fault = below(i, known)) return fault;
  }
  return e.form() == Form::read ? fault_of_read(system, e, known) : std::nullopt;
}

}  // namespace etalon::spec
