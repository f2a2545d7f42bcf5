#include "reference/bounds/some_elements.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "reference/bounds/plan.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::reference::bounds {
namespace {

using spec::Binder;
using spec::Equation;
using spec::Expr;
using spec::Form;
using spec::System;
using spec::TensorId;

/// At which indices of an axis a tensor is read.
struct Reached {
  std::set<std::int64_t> indices;
  bool all = false;
};

// Each combination of indices is an equation of its own.
constexpr std::size_t most_equations = 4096;

[[nodiscard]] std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

class Restriction {
 public:
  explicit Restriction(const System& system)
      : system_(system), result_(system), reached_(system.tensors.size()), needed_(system.tensors.size(), false), restricted_(system.tensors.size(), false), by_(system.tensors.size(), nullptr) {
    result_.equations.clear();
    result_.outputs.clear();
    std::vector<int> writers(system.tensors.size(), 0);
    for (const Equation& q : system.equations) ++writers[at(q.target)];
    for (const auto& group : spec::recurrent_groups(system)) {
      for (const std::size_t i : group) writers[at(system.equations[i].target)] = 2;
    }
    for (const Equation& q : system.equations) {
      if (writers[at(q.target)] == 1 && covers(system, q)) by_[at(q.target)] = &q;
    }
    for (std::size_t t = 0; t < system.tensors.size(); ++t) reached_[t].resize(system.tensors[t].dims.rank);
  }

  System run(const std::vector<std::vector<std::size_t>>& wanted) {
    std::vector<Equation> last;
    for (std::size_t o = 0; o < system_.outputs.size(); ++o) list(system_.outputs[o], wanted[o], last);
    for (auto q = system_.equations.rbegin(); q != system_.equations.rend(); ++q) {
      if (needed_[at(q->target)]) keep(*q);
    }
    std::reverse(result_.equations.begin(), result_.equations.end());
    result_.equations.insert(result_.equations.end(), last.begin(), last.end());
    for (Equation& q : result_.equations) q.value = with_new_indices(q.value);
    for (std::size_t t = 0; t < system_.tensors.size(); ++t) {
      if (!restricted_[t]) continue;
      Dims& dims = result_.tensors[t].dims;
      for (std::size_t a = 0; a < dims.rank; ++a) {
        if (!reached_[t][a].all) dims[a] = static_cast<std::int64_t>(reached_[t][a].indices.size());
      }
    }
    return std::move(result_);
  }

 private:
  /// An output's elements as a tensor of their own.
  void list(TensorId output, const std::vector<std::size_t>& wanted, std::vector<Equation>& into) {
    const spec::TensorInfo info = system_[output];
    Dims length;
    length.push_back(static_cast<std::int64_t>(wanted.size()));
    const TensorId target = result_.add_tensor(info.name, info.dtype, length);
    result_.outputs.push_back(target);
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      std::vector<std::optional<std::int64_t>> place(info.dims.rank);
      auto rest = static_cast<std::int64_t>(wanted[n]);
      for (std::size_t a = info.dims.rank; a-- > 0; rest /= info.dims[a]) place[a] = rest % info.dims[a];
      Equation q;
      if (by_[at(output)] != nullptr) {
        q = at_indices(*by_[at(output)], place);
      } else {
        std::vector<Expr> indices;
        for (const auto& i : place) indices.push_back(index_of(*i, q));
        q.value = result_.at(output, std::move(indices));
      }
      q.target = target;
      q.place = {spec::integer(static_cast<std::int64_t>(n))};
      note(q.value);
      into.push_back(std::move(q));
    }
  }

  /// An index that is known, which is no constant: those are rounded where they become numbers.
  [[nodiscard]] Expr index_of(std::int64_t index, Equation& q) {
    q.binders.push_back(result_.bind("at", 1));
    only_.insert(q.binders.back().variable);
    return spec::variable(q.binders.back()) + spec::integer(index);
  }

  /// The equation for those elements that have these indices.
  [[nodiscard]] Equation at_indices(const Equation& whole, const std::vector<std::optional<std::int64_t>>& indices) {
    Equation q;
    q.target = whole.target;
    q.origin = whole.origin;
    spec::Substitution by;
    for (std::size_t a = 0; a < indices.size(); ++a) {
      Expr index;
      if (indices[a]) {
        index = index_of(*indices[a], q);
      } else {
        q.binders.push_back(result_.bind(whole.binders[a].name, whole.binders[a].extent));
        index = spec::variable(q.binders.back());
      }
      by[whole.binders[a].variable] = index;
      q.place.push_back(index);
    }
    q.value = refresh(result_, substitute(whole.value, by));
    return q;
  }

  /// The integer that the expression is wherever the variables of one value are all that is free in it.
  [[nodiscard]] std::optional<std::int64_t> known(const Expr& e) const {
    const spec::Affine form = spec::exact_affine(e);
    const bool fixed = std::all_of(form.terms.begin(), form.terms.end(), [&](const spec::Term& term) {
      return term.atom.form() == Form::variable && only_.contains(term.atom->variable);
    });
    return fixed ? std::optional(form.constant) : std::nullopt;
  }

  void note(const Expr& e) {
    if (e.form() == Form::read) {
      needed_[at(e->tensor)] = true;
      for (std::size_t a = 0; a < e->args.size(); ++a) {
        Reached& axis = reached_[at(e->tensor)][a];
        const auto index = known(e->args[a]);
        if (!index) axis.all = true;
        // Where an index lies outside, a condition keeps the read from being reached.
        else if (*index >= 0 && *index < system_[e->tensor].dims[a]) axis.indices.insert(*index);
      }
    }
    for (const Expr& a : e->args) note(a);
  }

  /// The equation, or one for each combination of the indices at which its target is read.
  void keep(const Equation& q) {
    const auto& axes = reached_[at(q.target)];
    double combinations = 1;
    for (const Reached& axis : axes) combinations *= axis.all ? 1 : static_cast<double>(axis.indices.size());
    const bool whole = std::all_of(axes.begin(), axes.end(), [](const Reached& axis) { return axis.all; });
    if (by_[at(q.target)] == nullptr || whole || combinations > static_cast<double>(most_equations)) {
      note(q.value);
      for (const Expr& p : q.place) note(p);
      result_.equations.push_back(q);
      return;
    }
    restricted_[at(q.target)] = true;
    std::vector<std::optional<std::int64_t>> indices(axes.size());
    each_combination(q, indices, 0);
  }

  void each_combination(const Equation& q, std::vector<std::optional<std::int64_t>>& indices, std::size_t axis) {
    const auto& axes = reached_[at(q.target)];
    if (axis == axes.size()) {
      Equation one = at_indices(q, indices);
      for (std::size_t a = 0; a < axes.size(); ++a) {
        if (indices[a]) one.place[a] = spec::integer(position(axes[a], *indices[a]));
      }
      note(one.value);
      result_.equations.push_back(std::move(one));
      return;
    }
    if (axes[axis].all) return each_combination(q, indices, axis + 1);
    for (const std::int64_t index : axes[axis].indices) {
      indices[axis] = index;
      each_combination(q, indices, axis + 1);
    }
  }

  [[nodiscard]] static std::int64_t position(const Reached& axis, std::int64_t index) {
    const auto found = axis.indices.find(index);
    return found == axis.indices.end() ? 0 : std::distance(axis.indices.begin(), found);
  }

  [[nodiscard]] Expr with_new_indices(const Expr& e) const {
    if (e->args.empty()) return e;
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr& a : e->args) args.push_back(with_new_indices(a));
    if (e.form() == Form::read && restricted_[at(e->tensor)]) {
      const auto& axes = reached_[at(e->tensor)];
      for (std::size_t a = 0; a < args.size(); ++a) {
        if (!axes[a].all) args[a] = spec::integer(position(axes[a], *known(e->args[a])));
      }
    }
    return with_args(e, std::move(args));
  }

  const System& system_;
  System result_;
  std::vector<std::vector<Reached>> reached_;  ///< per tensor and axis
  std::vector<bool> needed_, restricted_;
  std::vector<const Equation*> by_;            ///< of a tensor that one equation defines
  std::set<spec::VariableId> only_;            ///< variables of one value
};

}  // namespace

System with_some_elements(const System& system, const std::vector<std::vector<std::size_t>>& wanted) { return Restriction(system).run(wanted); }

}  // namespace etalon::reference::bounds
