#include "compiled/schedule/wide.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "compiled/ir/contraction.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/plan.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

namespace {

bool is_variable(const Expr& e, const Binder& b) { return e.form() == Form::variable && e->variable == b.variable; }

class Finder {
 public:
  Finder(const System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding)
      : system_(system), machine_(machine), options_(options), deciding_(deciding), names_(addresses(system)), uses_(uses_of(system)), family_of_(system.tensors.size(), none) {}

  std::vector<WideFamily> run() {
    for (std::size_t i = 0; i < system_.equations.size(); ++i) visit(i);
    std::vector<WideFamily> found;
    for (std::size_t f = 0; f < families_.size(); ++f) {
      if (refused_.contains(f) || families_[f].readers.empty()) continue;
      deciding_.take(switched("wide", names_[families_[f].members.front()], true));
      found.push_back(std::move(families_[f]));
    }
    return found;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t& family_of(TensorId t) { return family_of_[static_cast<std::size_t>(t)]; }

  void visit(std::size_t i) {
    const Equation& e = system_.equations[i];
    std::vector<Expr> reads;
    std::set<std::size_t> read;
    for_each_read(e, [&](const Expr& x) {
      if (family_of(x->tensor) == none) return;
      reads.push_back(x);
      read.insert(family_of(x->tensor));
    });
    if (reads.empty()) return begin(i);
    if (!are_alike(read)) {
      refused_.insert(read.begin(), read.end());
      return;
    }
    const std::size_t f = join(read);
    if (is_member(e, families_[f], reads)) {
      families_[f].members.push_back(i);
      family_of(e.target) = f;
    } else if (auto reader = as_reader(families_[f], i, reads)) {
      families_[f].readers.push_back(std::move(*reader));
    } else {
      refused_.insert(f);
    }
  }

  bool are_alike(const std::set<std::size_t>& read) const {
    const WideFamily& one = families_[*read.begin()];
    return std::all_of(read.begin(), read.end(), [&](std::size_t f) {
      return families_[f].dims == one.dims && families_[f].first == one.first && families_[f].second == one.second;
    });
  }

  bool keeps_to_itself(const Equation& e) const {
    const auto t = static_cast<std::size_t>(e.target);
    return !uses_.is_output[t] && uses_.writers[t] == 1 && !uses_.recurrent[t] && fills_in_order(system_, e);
  }

  /// A family of its own for a contraction whose result is wide.
  void begin(std::size_t i) {
    const Equation& e = system_.equations[i];
    if (!keeps_to_itself(e)) return;
    const auto seen = recognise_contraction(system_, e);
    const auto* c = std::get_if<Contraction>(&seen);
    if (c == nullptr || c->guard.valid()) return;
    const Dims& dims = system_[e.target].dims;
    if (dims[c->row] < 2 || dims[c->column] < 2) return;
    const DecisionLine* given = deciding_.given("wide", names_[i]);
    if (given != nullptr && given->is("off")) return deciding_.take(*given);
    if ((given == nullptr && !is_wide(e, *c)) || !decide(system_, e, *c, machine_, options_).schedule) return;
    WideFamily family;
    family.dims = counting_dims(dims);
    const std::vector<std::size_t> axes = counting_axes(dims);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (axes[a] == std::min(c->row, c->column)) family.first = a;
      else if (axes[a] == std::max(c->row, c->column)) family.second = a;
      else family.outer.push_back(a);
    }
    family.members.push_back(i);
    family_of(e.target) = families_.size();
    families_.push_back(std::move(family));
  }

  bool is_wide(const Equation& e, const Contraction& c) const {
    std::int64_t read = 0;
    std::unordered_set<TensorId> seen;
    for_each_read(e.value, [&](const Expr& x) {
      if (seen.insert(x->tensor).second) read += system_[x->tensor].dims.count();
    });
    if (options_.always) return true;
    const std::int64_t matrix = e.binders[c.row].extent * e.binders[c.column].extent;
    return points_of(c.depth) <= threshold("most_wide_terms") && read * threshold("least_wide_growth") <= system_[e.target].dims.count() &&
           matrix * static_cast<std::int64_t>(size_of(c.type)) > percent(usual_middle_bytes, threshold("wide_percent"));
  }

  /// Whether the equation has the extents of what it reads and each element reads those at its own place.
  bool is_member(const Equation& e, const WideFamily& family, const std::vector<Expr>& reads) const {
    if (!keeps_to_itself(e) || has_reduction(e.value) || !(counting_dims(system_[e.target].dims) == family.dims)) return false;
    const std::vector<Binder> binders = at_axes(e.binders, counting_axes(system_[e.target].dims));
    return std::all_of(reads.begin(), reads.end(), [&](const Expr& r) {
      const std::vector<Expr> at = indices(r);
      return std::equal(at.begin(), at.end(), binders.begin(), binders.end(), is_variable);
    });
  }

  std::vector<Expr> indices(const Expr& read) const { return at_axes(read->args, counting_axes(system_[read->tensor].dims)); }

  /// The families that an equation reads become one. \returns which.
  std::size_t join(const std::set<std::size_t>& read) {
    const std::size_t f = *read.begin();
    if (read.size() == 1) return f;
    for (const std::size_t g : read) {
      if (g == f) continue;
      WideFamily& from = families_[g];
      for (const std::size_t m : from.members) family_of(system_.equations[m].target) = f;
      families_[f].members.insert(families_[f].members.end(), from.members.begin(), from.members.end());
      std::move(from.readers.begin(), from.readers.end(), std::back_inserter(families_[f].readers));
      from.members.clear();
      from.readers.clear();
      if (refused_.contains(g)) refused_.insert(f);
    }
    std::sort(families_[f].members.begin(), families_[f].members.end());
    std::sort(families_[f].readers.begin(), families_[f].readers.end(), [](const auto& a, const auto& b) { return a.equation < b.equation; });
    return f;
  }

  /// How an equation reads a family by strips of one of its long axes, if it does.
  std::optional<WideReader> as_reader(const WideFamily& family, std::size_t i, const std::vector<Expr>& reads) const {
    const Equation& e = system_.equations[i];
    const auto t = static_cast<std::size_t>(e.target);
    if (uses_.writers[t] != 1 || uses_.recurrent[t] || (!options_.always && 2 * system_[e.target].dims.count() > family.dims.count())) return std::nullopt;
    if (!std::all_of(e.binders.begin(), e.binders.end(), [&](const Binder& b) { return stands_once(e, b); })) return std::nullopt;
    for (const std::size_t axis : {family.first, family.second}) {
      WideReader reader{i, axis, {}};
      for (const std::size_t a : family.outer) add_loop(e, reads, a, reader.shared);
      add_loop(e, reads, axis, reader.shared);
      const std::set<std::size_t> distinct(reader.shared.begin(), reader.shared.end());
      if (distinct.size() == family.outer.size() + 1 && !distinct.contains(none) && suits(family, reader)) return reader;
    }
    return std::nullopt;
  }

  static bool stands_once(const Equation& e, const Binder& b) {
    return std::count_if(e.place.begin(), e.place.end(), [&](const Expr& p) { return is_variable(p, b); }) == 1 && e.place.size() == e.binders.size();
  }

  /// The binder that is this index in all reads.
  void add_loop(const Equation& e, const std::vector<Expr>& reads, std::size_t axis, std::vector<std::size_t>& shared) const {
    std::size_t found = none;
    for (std::size_t b = 0; b < e.binders.size(); ++b) {
      if (std::all_of(reads.begin(), reads.end(), [&](const Expr& r) { return is_variable(indices(r)[axis], e.binders[b]); })) found = b;
    }
    shared.push_back(found);
  }

  /// A contraction that reads the family takes its rows from it.
  bool suits(const WideFamily& family, const WideReader& reader) const {
    const Equation& e = system_.equations[reader.equation];
    if (e.binders[reader.shared.back()].extent != family.dims[reader.axis]) return false;
    const auto seen = recognise_contraction(system_, e);
    const auto* c = std::get_if<Contraction>(&seen);
    if (c == nullptr || !decide(system_, e, *c, machine_, options_).schedule) return true;
    return c->row == reader.shared.back() && c->left.form() == Form::read && system_[c->left->tensor].dtype == c->type && !c->guard.valid() &&
           family_of_[static_cast<std::size_t>(c->left->tensor)] != none && !reads_family(c->right);
  }

  bool reads_family(const Expr& e) const {
    return holds(e, [&](const Expr& x) { return x.form() == Form::read && family_of_[static_cast<std::size_t>(x->tensor)] != none; });
  }

  const System& system_;
  const Machine& machine_;
  const ScheduleOptions& options_;
  Deciding& deciding_;
  std::vector<std::string> names_;
  Uses uses_;
  std::vector<std::size_t> family_of_;  ///< per tensor
  std::vector<WideFamily> families_;
  std::set<std::size_t> refused_;
};

}  // namespace

bool is_slight(const System& system, const Equation& equation) {
  if (has_reduction(equation.value) || loops::operations(equation.value) > threshold<double>("slight_operations")) return false;
  return equation.value.kind() == Kind::boolean || (equation.value.kind() == Kind::real && arithmetic_type(system, equation) == system[equation.target].dtype);
}

std::vector<std::size_t> counting_axes(const Dims& dims) {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < dims.rank; ++a) {
    if (dims[a] != 1) axes.push_back(a);
  }
  return axes;
}

Dims counting_dims(const Dims& dims) {
  Dims counting;
  for (const std::size_t a : counting_axes(dims)) counting.push_back(dims[a]);
  return counting;
}

bool fills_in_order(const System& system, const Equation& equation) {
  const Dims& dims = system[equation.target].dims;
  if (equation.binders.size() != dims.rank) return false;
  for (std::size_t a = 0; a < dims.rank; ++a) {
    if (!is_variable(equation.place[a], equation.binders[a]) || equation.binders[a].extent != dims[a]) return false;
  }
  return true;
}

std::vector<WideFamily> wide_families(const System& system, const Machine& machine, const ScheduleOptions& options, Deciding& deciding) {
  return Finder(system, machine, options, deciding).run();
}

}  // namespace etalon::compiled
