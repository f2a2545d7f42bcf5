#include "tests/adequacy/equivalence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "spec/error.hpp"
#include "spec/system/affine.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/simplify.hpp"
#include "tests/adequacy/facts.hpp"
#include "tests/adequacy/folding.hpp"
#include "tests/adequacy/lost.hpp"
#include "tests/adequacy/only_equation.hpp"
#include "tests/adequacy/points.hpp"

namespace etalon::adequacy {
namespace {

using spec::Binder;
using spec::Expr;
using spec::Form;
using spec::Primitive;
constexpr bool swapped[] = {false, true};
using Pairs = std::vector<std::pair<Expr, Expr>>;

// Whether all elements along the axis are the same: its only equation does not depend on that index.
bool is_uniform(const spec::System& system, spec::TensorId tensor, std::size_t axis, int depth = 0) {
  const spec::Equation* only = only_equation(system, tensor);
  if (only == nullptr || depth > 8 || only->place[axis].form() != Form::variable) return false;
  const spec::VariableId index = only->place[axis]->variable;
  const std::function<bool(const Expr&)> is_free = [&](const Expr& e) {
    if (e.form() == Form::variable) return e->variable != index;
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      const bool plain = e.form() == Form::read && e->args[k].form() == Form::variable && e->args[k]->variable == index;
      if (plain ? !is_uniform(system, e->tensor, k, depth + 1) : !is_free(e->args[k])) return false;
    }
    return true;
  };
  return is_free(only->value);
}

// The same element of the same tensor, or the same number or truth, at every point.
bool equal_by_enumeration(const spec::System& system, const Site& site, const Expr& by) {
  const Expr& e = site.node;
  Pairs pairs;
  std::vector<Binder> binders = site.binders;
  if (e.form() == Form::read && by.form() == Form::read && e->tensor == by->tensor) {
    for (std::size_t k = 0; k < e->args.size(); ++k) {
      if (e->args[k] != by->args[k] && !is_uniform(system, e->tensor, k)) pairs.emplace_back(e->args[k], by->args[k]);
    }
    if (pairs.empty()) return true;
    if (e.kind() == Kind::integer && are_equal_at_all_points(system, binders, site.conditions, {{e, by}})) return true;
  } else if (e.kind() != Kind::real && by.kind() == e.kind() && e.form() == Form::apply) {
    pairs.emplace_back(e, by);
  } else if (e.form() == Form::reduce && by.form() == Form::reduce && e->binders == by->binders &&
             e->reduction == by->reduction && e->args[1] == by->args[1]) {
    pairs.emplace_back(e->args[0], by->args[0]);
    binders.insert(binders.end(), e->binders.begin(), e->binders.end());
  } else {
    return false;
  }
  return are_equal_at_all_points(system, binders, site.conditions, std::move(pairs));
}

// The index or the condition that the site's node stands in is the same at every point.
bool equal_around(const spec::System& system, const std::vector<Site>& outer, const Site& site, const Expr& by) {
  return std::any_of(outer.begin(), outer.end(), [&](const Site& o) {
    if (o.node.kind() == Kind::real || o.node.form() != Form::apply) return false;
    const std::vector<std::size_t> rest(site.path.begin() + static_cast<std::ptrdiff_t>(o.path.size()), site.path.end());
    const Expr other = replaced(o.node, rest, by);
    return are_equal_at_all_points(system, o.binders, o.conditions, {{o.node, other}});
  });
}

Expr with(const Expr& e, const Expr& old, const Expr& by) {
  if (e == old) return by;
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(with(a, old, by));
  return args.empty() ? e : spec::with_args(e, args);
}

bool is_order(const Expr& e) {
  return e.is(Primitive::lt) || e.is(Primitive::le) || e.is(Primitive::gt) || e.is(Primitive::ge);
}

bool adds_equality(const Expr& a, const Expr& b) {
  const auto pair = [&](Primitive p, Primitive q) { return (a.is(p) && b.is(q)) || (a.is(q) && b.is(p)); };
  return is_order(a) && is_order(b) && a->args == b->args &&
         (pair(Primitive::lt, Primitive::le) || pair(Primitive::gt, Primitive::ge));
}

// `if a < b` and `if a <= b` differ where a = b alone; there both arms are the same.
bool equal_at_the_boundary(const Site& site, const Expr& by) {
  if (!site.parent || site.parent->form() != Form::select || !adds_equality(site.node, by)) return false;
  if (site.parent.value()->args[0] != site.node) return false;
  const Expr &a = site.node->args[0], &b = site.node->args[1];
  const Expr then = site.parent.value()->args[1], otherwise = site.parent.value()->args[2];
  return folded(with(then, a, b)) == folded(with(otherwise, a, b)) ||
         folded(with(then, b, a)) == folded(with(otherwise, b, a));
}

// In values detached numbers are what they are.
bool same_without_detach(const spec::System& system, const Site& site, const Expr& by) {
  const Expr& whole = system.equations[site.equation].value;
  return folded(without_detach(whole)) == folded(without_detach(replaced(whole, site.path, by)));
}

// The conditions differ where neither arm can be another number than the other one.
bool equal_where_conditions_differ(const std::vector<Site>& outer, const Site& site, const Expr& by, Reaches& reaches) {
  return std::any_of(outer.begin(), outer.end(), [&](const Site& o) {
    if (o.node.form() != Form::select || site.path[o.path.size()] != 0) return false;
    const std::vector<std::size_t> rest(site.path.begin() + static_cast<std::ptrdiff_t>(o.path.size()) + 1, site.path.end());
    const Expr one = o.node->args[0], other = replaced(one, rest, by);
    return std::all_of(std::begin(swapped), std::end(swapped), [&](bool swap) {
      std::vector<Expr> there = o.conditions;
      there.push_back(swap ? other : one);
      there.push_back(spec::apply(Primitive::logical_not, {swap ? one : other}));
      if (Facts(there).contradict()) return true;
      const Reach a = reaches.of(o.node->args[1], o.binders, there), b = reaches.of(o.node->args[2], o.binders, there);
      return a.low == a.high && a.low == b.low && b.low == b.high;
    });
  });
}

// Guards that the change leaves decided give the same text when they are solved.
bool same_when_solved(const spec::System& system, const Site& site, const Expr& by) {
  const auto alone = [&](const Expr& value) {
    spec::System one = system;
    one.equations = {system.equations[site.equation]};
    one.equations.front().value = value;
    spec::solve_guards(one);
    return one.equations.empty() ? Expr{} : one.equations.front().value;
  };
  try {
    const Expr& whole = system.equations[site.equation].value;
    const Expr a = alone(whole), b = alone(replaced(whole, site.path, by));
    return a.valid() && b.valid() && a == b;
  } catch (const std::exception&) {
    return false;
  }
}

// The variables of reductions in the order in which they are met: of all but positions the order of loops says nothing.
Expr in_order_of_use(const Expr& e, spec::VariableId& next) {
  std::vector<Expr> args;
  if (e.form() != Form::reduce) {
    for (const Expr& a : e->args) args.push_back(in_order_of_use(a, next));
    return args.empty() ? e : spec::with_args(e, args);
  }
  std::vector<Binder> binders;
  spec::Substitution renamed;
  const auto meet = [&](spec::VariableId v) {
    for (const Binder& b : e->binders) {
      if (b.variable != v || renamed.contains(v)) continue;
      binders.push_back({next++, b.extent, b.name});
      renamed[v] = spec::variable(binders.back());
    }
  };
  const bool position = e->reduction == spec::Reduction::argmax || e->reduction == spec::Reduction::argmin;
  for (std::size_t k = 0; k < 2 && !position; ++k) {
    spec::for_each(e->args[1 - k], [&](const Expr& sub) {
      if (sub.form() == Form::variable) meet(sub->variable);
    });
  }
  for (const Binder& b : e->binders) meet(b.variable);
  for (const Expr& a : e->args) args.push_back(in_order_of_use(spec::substitute(a, renamed), next));
  return spec::reduce(e->reduction, binders, args[0], args[1], args.size() > 2 ? args[2] : Expr{});
}

// The same with the binders of its loops named in order, too.
spec::Equation canonical(const spec::Equation& e) {
  spec::VariableId next = 1 << 20;
  spec::Equation same = e;
  spec::Substitution renamed;
  for (Binder& b : same.binders) {
    const spec::VariableId old = b.variable;
    b.variable = next++;
    renamed[old] = spec::variable(b);
  }
  for (Expr& p : same.place) p = spec::substitute(p, renamed);
  same.value = in_order_of_use(spec::substitute(e.value, renamed), next);
  return same;
}

// Equal but for indices and conditions that are the same at every point.
bool equal_everywhere(const spec::System& system, const Expr& a, const Expr& b, const std::vector<Binder>& binders,
                      const std::vector<Expr>& conditions) {
  if (a == b) return true;
  if (a.kind() != b.kind()) return false;
  if (a.kind() != Kind::real && are_equal_at_all_points(system, binders, conditions, {{a, b}})) return true;
  if (a.form() != b.form() || a->args.size() != b->args.size() || a->args.empty() || a->tensor != b->tensor ||
      a->binders != b->binders)
    return false;
  if (a.form() == Form::apply && a->primitive != b->primitive) return false;
  if (a.form() == Form::reduce && a->reduction != b->reduction) return false;
  std::vector<Binder> inside = binders;
  inside.insert(inside.end(), a->binders.begin(), a->binders.end());
  for (std::size_t k = 0; k < a->args.size(); ++k) {
    std::vector<Expr> holds = conditions;
    if (k == 1 && (a.form() == Form::select || a.form() == Form::reduce)) holds.push_back(a->args[0]);
    if (!equal_everywhere(system, a->args[k], b->args[k], k < 2 ? inside : binders, holds)) return false;
  }
  return true;
}

// The comparison that holds where this one does not, of numbers that are none of them NaN.
std::optional<Expr> opposite(const Expr& c) {
  using enum Primitive;
  if (c.form() != Form::apply || c->args.size() != 2 || c->args[0].kind() != Kind::integer) return std::nullopt;
  for (const auto& [one, other] : {std::pair{lt, ge}, std::pair{le, gt}, std::pair{gt, le}, std::pair{ge, lt}, std::pair{ne, eq}}) {
    if (c.is(one)) return spec::apply(other, c->args);
  }
  return std::nullopt;
}

// With the number, or the truth, in place of each part that can be no other.
Expr decided(const Expr& e, const Site& site, Reaches& reaches) {
  if (e.kind() == Kind::real && e.form() != Form::number) {
    const Reach r = reaches.of(e, site.binders, site.conditions);
    if (r.whole && r.low == r.high && std::isfinite(r.low)) return spec::binary64(r.low);
  }
  if (e.kind() == Kind::boolean) {
    if (reaches.never(e, site.binders, site.conditions)) return spec::boolean(false);
    const auto other = opposite(e);
    if (other && reaches.never(*other, site.binders, site.conditions)) return spec::boolean(true);
  }
  if (e.form() == Form::reduce || e->args.empty() || e.form() == Form::read) return e;
  std::vector<Expr> args;
  for (const Expr& a : e->args) args.push_back(decided(a, site, reaches));
  return spec::with_args(e, args);
}

// All that the node stands in, up to the next reduction or tensor that is read, can be no other number.
bool same_once_decided(const std::vector<Site>& outer, const Site& site, const Expr& by, Reaches& reaches) {
  const auto same = [&](const Expr& a, const Expr& b, const Site& at) {
    return (a.kind() == Kind::real || a.kind() == Kind::boolean) && folded(decided(a, at, reaches)) == folded(decided(b, at, reaches));
  };
  if (same(site.node, by, site)) return true;
  for (const Site& o : outer) {
    if (o.node.form() == Form::reduce || o.node.form() == Form::read) return false;
    const std::vector<std::size_t> rest(site.path.begin() + static_cast<std::ptrdiff_t>(o.path.size()), site.path.end());
    if (same(o.node, replaced(o.node, rest, by), o)) return true;
  }
  return false;
}

// Exchanged are variables of one reduction: its terms are the same.
bool same_in_another_order(const spec::System& system, const Site& site, const Expr& by) {
  const spec::Equation& one = system.equations[site.equation];
  spec::Equation other = one;
  other.value = replaced(one.value, site.path, by);
  return canonical(one).value == canonical(other).value;
}

// The equations that the outputs from that one on depend on.
std::vector<spec::Equation> behind_outputs(const spec::System& system, std::size_t first_output) {
  std::set<spec::TensorId> needed(system.outputs.begin() + static_cast<std::ptrdiff_t>(std::min(first_output, system.outputs.size())), system.outputs.end());
  std::size_t before = 0;
  while (before != needed.size()) {
    before = needed.size();
    for (const spec::Equation& e : system.equations) {
      if (!needed.contains(e.target)) continue;
      const auto note = [&](const Expr& sub) {
        if (sub.form() == Form::read) needed.insert(sub->tensor);
      };
      spec::for_each(e.value, note);
      for (const Expr& place : e.place) spec::for_each(place, note);
    }
  }
  std::vector<spec::Equation> all;
  std::copy_if(system.equations.begin(), system.equations.end(), std::back_inserter(all), [&](const spec::Equation& e) { return needed.contains(e.target); });
  return all;
}

// What differs is less than half a unit in the last place, of binary64 too, of the sum that it is a term of.
bool is_lost_in_sum(const Site& site, const Expr& by, Reaches& reaches) {
  if (!site.parent || !(site.parent->is(Primitive::add) || site.parent->is(Primitive::sub))) return false;
  if (by.form() != Form::select || by->args[2] != site.node) return false;
  std::vector<Expr> there = site.conditions;
  there.push_back(by->args[0]);
  const Reach sum = reaches.of(*site.parent, site.binders, site.conditions);
  const Reach a = reaches.of(site.node, site.binders, there), b = reaches.of(by->args[1], site.binders, there);
  const double differ = std::max(a.high, b.high) - std::min(a.low, b.low);
  return differ <= 0x1p-54 * std::max(sum.low, -sum.high);
}

// What stands in the place of the node in some case is nearly the same, and that is lost in a rounding behind it.
bool is_lost_behind(const spec::System& system, const Site& site, const Expr& by, Reaches& reaches, std::size_t first_output) {
  if (by.form() != Form::select || by->args[2] != site.node || by.kind() != Kind::real) return false;
  std::vector<Expr> there = site.conditions;
  there.push_back(by->args[0]);
  const Reach a = reaches.of(site.node, site.binders, there), b = reaches.of(by->args[1], site.binders, there);
  const Reach near{std::min(a.low, b.low), std::max(a.high, b.high), false};
  const double differ = near.high - near.low;
  return std::isfinite(differ) && Lost(system, reaches, first_output).is_lost(site, {differ, near}, by->args[0]);
}

// Whether it has a number where the condition holds: what is compared there is none of them NaN.
bool is_number_where(const Expr& condition, const Expr& e, const Site& site, Reaches& reaches) {
  if (e.form() == Form::number || std::find(condition->args.begin(), condition->args.end(), e) != condition->args.end()) return true;
  const bool root = e.is(Primitive::sqrt);
  if (!root && !e.is(Primitive::neg) && !e.is(Primitive::abs)) return false;
  return is_number_where(condition, e->args[0], site, reaches) && (!root || reaches.of(e->args[0], site.binders, site.conditions).low >= 0);
}

// The second arm of a choice in place of it, where both are one and the same number wherever the first one is taken.
bool is_first_arm_idle(const Site& site, const Expr& by, Reaches& reaches) {
  if (site.node.form() != Form::select || by != site.node->args[2] || !is_order(site.node->args[0])) return false;
  std::vector<Expr> there = site.conditions;
  there.push_back(site.node->args[0]);
  const Reach a = reaches.of(site.node->args[1], site.binders, there), b = reaches.of(by, site.binders, there);
  return a.low == a.high && a.low == b.low && b.low == b.high && is_number_where(site.node->args[0], by, site, reaches);
}

// What stands in the place of the node in a case that never is.
bool is_never_chosen(const Site& site, const Expr& by, Reaches& reaches) {
  return by.form() == Form::select && by->args[2] == site.node &&
         reaches.never(by->args[0], site.binders, site.conditions);
}

// `<` and `<=` of numbers that are never equal.
bool are_never_equal(const Site& site, const Expr& by, Reaches& reaches) {
  return adds_equality(site.node, by) &&
         reaches.never(spec::apply(Primitive::eq, site.node->args), site.binders, site.conditions);
}

// Integers of 53 bits are exact in binary64, and do not wrap.
bool stays_in_53_bits(const Site& site, Reaches& reaches) {
  const auto small = [&](const Expr& e) {
    const Reach r = reaches.of(e, site.binders, site.conditions);
    return r.low >= -0x1p53 && r.high <= 0x1p53;
  };
  return small(site.node) && std::all_of(site.node->args.begin(), site.node->args.end(), small);
}

}  // namespace

std::string why_equivalent(const spec::System& system, const Site& site, const Alternative& alternative,
                           Reaches& reaches, std::size_t first_output) {
  if (folded(site.node) == folded(alternative.node)) return "the same expression";
  const std::vector<Site> outer = around(system, site);
  if (equal_by_enumeration(system, site, alternative.node) || equal_around(system, outer, site, alternative.node))
    return "the same at every value of the indices";
  if (first_output == 0 && same_without_detach(system, site, alternative.node)) return "the same values, where nothing is differentiated";
  if (equal_where_conditions_differ(outer, site, alternative.node, reaches) || equal_at_the_boundary(site, alternative.node) ||
      is_first_arm_idle(site, alternative.node, reaches))
    return "both arms are the same where the comparisons differ";
  if (is_lost_in_sum(site, alternative.node, reaches)) return "lost in the rounding of a sum";
  if (alternative.sort == Sort::axes && same_in_another_order(system, site, alternative.node))
    return "the same sum in another order";
  if (is_never_chosen(site, alternative.node, reaches)) return "the numbers never come there";
  if (same_once_decided(outer, site, alternative.node, reaches)) return "the same numbers whatever the inputs are";
  if (are_never_equal(site, alternative.node, reaches)) return "the numbers compared are never equal";
  if (alternative.sort == Sort::saturating && stays_in_53_bits(site, reaches))
    return "the integers stay within 53 bits";
  if (is_lost_behind(system, site, alternative.node, reaches, first_output)) return "lost in a rounding behind it";
  const bool guards = alternative.sort == Sort::guard || alternative.sort == Sort::arm ||
                      alternative.sort == Sort::comparison || alternative.sort == Sort::part;
  if (guards && same_when_solved(system, site, alternative.node)) return "the same text once guards are solved";
  return "";
}

std::string why_equivalent(const spec::System& system, const spec::System& other, std::size_t first_output) {
  const auto values = [&](const Expr& e) { return folded(first_output == 0 ? without_detach(e) : e); };
  const std::vector<spec::Equation> asked = behind_outputs(system, first_output), others = behind_outputs(other, first_output);
  const bool same = std::equal(asked.begin(), asked.end(), others.begin(), others.end(),
                               [&](const spec::Equation& one, const spec::Equation& another) {
                                 const spec::Equation a = canonical(one), b = canonical(another);
                                 return a.target == b.target && a.binders == b.binders && a.place == b.place &&
                                        equal_everywhere(system, values(a.value), values(b.value), a.binders, {});
                               });
  return same ? "the same equations at every value of the indices" : "";
}

}  // namespace etalon::adequacy
