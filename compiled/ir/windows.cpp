#include "compiled/ir/windows.hpp"

#include <algorithm>
#include <utility>

#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

using loops::Affine;

namespace {

loops::Extents extents_of(const Equation& equation, const std::vector<Binder>& depth) {
  loops::Extents extents;
  for (const Binder& b : equation.binders) extents[b.variable] = b.extent;
  for (const Binder& b : depth) extents[b.variable] = b.extent;
  return extents;
}

bool is_zero(const Expr& e) { return e.form() == Form::number && e->number.is(0); }

/// The reads of an expression; false when a loop stands outside of them or inside one of them another read.
bool collect_reads(const Expr& e, std::vector<Expr>& reads) {
  if (e.form() == Form::variable || e.form() == Form::reduce) return false;
  if (e.form() == Form::read) {
    reads.push_back(e);
    return true;
  }
  return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return collect_reads(a, reads); });
}

/// Least and largest value of an affine form; exact, since every loop stands in it once.
std::pair<std::int64_t, std::int64_t> range(const Affine& a, const loops::Extents& extents) {
  std::pair<std::int64_t, std::int64_t> r{a.constant, a.constant};
  for (const auto& [v, c] : a.variables) (c < 0 ? r.first : r.second) += c * (extents.at(v) - 1);
  return r;
}

bool equal(const Affine& a, const Affine& b) { return a.constant == b.constant && a.variables == b.variables; }

class WindowFinder {
 public:
  WindowFinder(const System& system, const Equation& equation, const Contraction& c)
      : system_(system), c_(c), extents_(extents_of(equation, c.depth)) {}

  std::optional<Window> find(const Expr& factor) {
    const bool zero_outside = factor.form() == Form::select && is_zero(factor->args[2]);
    window_.inside = zero_outside ? factor->args[1] : factor;
    std::vector<Expr> reads;
    if (!collect_reads(window_.inside, reads)) return std::nullopt;
    std::stable_sort(reads.begin(), reads.end(), [](const Expr& a, const Expr& b) { return a->args.size() > b->args.size(); });
    for (const Expr& r : reads) {
      for (std::size_t axis = 0; axis < r->args.size(); ++axis) {
        if (!add(r->args[axis], system_[r->tensor].dims[axis])) return std::nullopt;
      }
    }
    // A guard keeps reads in range; no loop stands outside of them, so that nothing inside chooses by where they are.
    if (!(zero_outside ? zero_exactly_outside(factor->args[0]) : c_.guard.valid() || !leaves())) return std::nullopt;
    if (!repeats()) return std::nullopt;
    window_.as_it_lies = !leaves() && window_.inside.form() == Form::read && system_[window_.inside->tensor].dtype == c_.type;
    return window_;
  }

 private:
  /// Adds an index of a read, unless it is there.
  bool add(const Expr& at, std::int64_t dim) {
    const Affine a = loops::affine(at);
    if (!a.opaque.empty()) return false;
    const auto [low, high] = range(a, extents_);
    if (a.variables.empty()) return low >= 0 && high < dim;
    for (const Window::Axis& axis : window_.axes) {
      if (axis.at == at) return axis.dim == dim;
    }
    if (window_.axes.size() == Dims::max_rank) return false;
    window_.axes.push_back({at, low, high - low + 1, dim});
    return true;
  }

  bool leaves() const {
    return std::any_of(window_.axes.begin(), window_.axes.end(), [](const Window::Axis& a) { return a.leaves(); });
  }

  /// Whether the condition holds where every index is in range, and nowhere else.
  bool zero_exactly_outside(const Expr& condition) const {
    std::vector<Affine> bounds;
    for (const Window::Axis& axis : window_.axes) {
      Affine at = loops::affine(axis.at);
      if (axis.low < 0) bounds.push_back(at);
      if (axis.low + axis.extent <= axis.dim) continue;
      for (auto& [v, c] : at.variables) c = -c;
      at.constant = axis.dim - 1 - at.constant;
      bounds.push_back(at);
    }
    std::vector<bool> met(bounds.size());
    for (const Expr& e : conditions_of(condition)) {
      const auto a = at_least_zero(e);
      if (!a) return false;
      if (range(*a, extents_).first >= 0) continue;
      const auto bound = std::find_if(bounds.begin(), bounds.end(), [&](const Affine& b) { return equal(*a, b); });
      if (bound == bounds.end()) return false;
      met[static_cast<std::size_t>(bound - bounds.begin())] = true;
    }
    return std::all_of(met.begin(), met.end(), [](bool m) { return m; });
  }

  /// Whether the loops read elements again, and a copy of them all is not much more than they are.
  bool repeats() const {
    double elements = 1;
    double there = 1;
    std::vector<spec::VariableId> loops;
    for (const Window::Axis& axis : window_.axes) {
      elements *= static_cast<double>(axis.extent);
      there *= static_cast<double>(axis.dim);
      for (const auto& [v, c] : loops::affine(axis.at).variables) loops.push_back(v);
    }
    std::sort(loops.begin(), loops.end());
    loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
    double reads = 1;
    for (const spec::VariableId v : loops) reads *= static_cast<double>(extents_.at(v));
    return reads >= 2 * elements && elements <= threshold("most_window_growth") * there;
  }

  const System& system_;
  const Contraction& c_;
  loops::Extents extents_;
  Window window_;
};

}  // namespace

std::optional<Window> as_window(const System& system, const Equation& equation, const Contraction& c, const Expr& factor) {
  return WindowFinder(system, equation, c).find(factor);
}

std::vector<Expr> conditions_of(const Expr& guard) {
  if (!guard.is(Primitive::logical_and)) return {guard};
  std::vector<Expr> all = conditions_of(guard->args[0]);
  const std::vector<Expr> more = conditions_of(guard->args[1]);
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::optional<Affine> at_least_zero(const Expr& condition) {
  if (!condition.is(Primitive::le) && !condition.is(Primitive::lt)) return std::nullopt;
  if (condition->args[0].kind() != Kind::integer) return std::nullopt;
  Affine a = loops::affine(spec::apply(Primitive::sub, {condition->args[1], condition->args[0]}));
  if (!a.opaque.empty()) return std::nullopt;
  if (condition.is(Primitive::lt)) --a.constant;
  return a;
}

bool guards_taps(const Equation& equation, const Contraction& c, const DepthWalk& walk) {
  const loops::Extents extents = extents_of(equation, c.depth);
  const auto known = [&](spec::VariableId v) {
    for (std::size_t b = 0; b < equation.binders.size(); ++b) {
      if (equation.binders[b].variable == v) return b != c.column;
    }
    return std::any_of(c.depth.begin() + static_cast<std::ptrdiff_t>(walk.taps), c.depth.end(), [&](const Binder& b) { return b.variable == v; });
  };
  const std::vector<Expr> all = conditions_of(c.guard);
  return std::all_of(all.begin(), all.end(), [&](const Expr& e) {
    const auto a = at_least_zero(e);
    return a && std::all_of(a->variables.begin(), a->variables.end(), [&](const auto& term) { return known(term.first); });
  });
}

bool turn_windows(const System& system, const Equation& equation, Contraction& c) {
  if (as_window(system, equation, c, c.left) || !as_window(system, equation, c, c.right)) return false;
  Contraction turned = c;
  std::swap(turned.left, turned.right);
  std::swap(turned.row, turned.column);
  if (c.guard.valid() && !guards_taps(equation, turned, walk(c.depth))) return false;
  c = std::move(turned);
  return true;
}

}  // namespace etalon::compiled
