#include "compiled/rewrite/passing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiled/ir/access.hpp"
#include "compiled/ir/depth.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/ir/uses.hpp"
#include "compiled/machine/thresholds.hpp"
#include "compiled/rewrite/parts.hpp"

namespace etalon::compiled {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);
std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

/// Which binder of a sum is which loop of a kernel, as far as reads have shown.
using Rows = std::map<std::size_t, spec::VariableId>;

/// A tensor at some place: read by a statement of a kernel, or written.
struct Access {
  TensorId tensor = -1;
  std::vector<std::optional<std::size_t>> loops;  ///< per axis, the kernel's loop that the index is, if it is just that
  bool written = false;
};

std::vector<Access> accesses_of(const System& system, const Kernel& kernel) {
  std::vector<Access> all;
  for (const Statement& s : kernel.statements) {
    const Equation& e = system.equations[s.equation];
    const auto loop_of = [&](const Expr& index) -> std::optional<std::size_t> {
      if (index.form() != Form::variable) return std::nullopt;
      for (std::size_t a = 0; a < s.shared.size(); ++a) {
        if (e.binders[s.shared[a]].variable == index->variable) return a;
      }
      return std::nullopt;
    };
    const auto add = [&](TensorId t, const std::vector<Expr>& place, bool written) {
      all.push_back({t, {}, written});
      for (const Expr& index : place) all.back().loops.push_back(loop_of(index));
    };
    add(e.target, e.place, true);
    for_each_read(e.value, [&](const Expr& x) { add(x->tensor, x->args, false); });
  }
  return all;
}

std::vector<Expr> reads_of(const Equation& equation) {
  std::vector<Expr> reads;
  for_each_read(equation.value, [&](const Expr& e) { reads.push_back(e); });
  return reads;
}

class Passing {
 public:
  Passing(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding)
      : system_(system), plan_(plan), decisions_(decisions), deciding_(deciding), recurrent_(recurrent_equations(system)),
        kernel_of_(system.equations.size()), writer_(system.tensors.size(), none) {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
      for (const Statement& s : plan.kernels[k].statements) {
        kernel_of_[s.equation] = k;
        writer_[at(system.equations[s.equation].target)] = k;
      }
    }
  }

  bool run() {
    std::vector<Decision> before = std::move(decisions_);
    before.resize(system_.equations.size());
    decisions_.clear();
    const std::vector<std::string> names = addresses(system_);
    for (std::size_t i = 0; i < before.size(); ++i) {
      Equation equation = system_.equations[i];
      if (const auto beside = kernel_for(equation, i, before[i])) {
        const bool on = deciding_.on("pass", names[i], true);
        deciding_.take(switched("pass", names[i], on));
        if (on) lift(equation, *beside);
      }
      add(std::move(equation), std::move(before[i]));
    }
    const bool any = result_.size() > system_.equations.size();
    system_.equations = std::move(result_);
    return any;
  }

 private:
  /// A kernel whose rows a sum goes along with, and the binder of the sum for each of its loops.
  struct Beside {
    std::size_t kernel = 0;
    std::vector<Binder> loops;
  };

  void add(Equation equation, Decision decision) {
    result_.push_back(std::move(equation));
    decisions_.push_back(std::move(decision));
  }

  std::optional<Beside> kernel_for(const Equation& equation, std::size_t i, const Decision& decision) const {
    if (recurrent_[i] || decision.schedule || decision.packs || !is_plain_sum(equation) || !type_of_part(system_, equation, equation.value)) return std::nullopt;
    const std::vector<Expr> reads = reads_of(equation);
    std::size_t first = 0;
    for (const Expr& r : reads) {
      if (const std::size_t w = writer_[at(r->tensor)]; w != none) first = std::max(first, w);
    }
    for (std::size_t k = kernel_of_[i]; k-- > first;) {
      if (auto loops = common_rows(plan_.kernels[k], equation, reads)) return Beside{k, std::move(*loops)};
    }
    return std::nullopt;
  }

  /// A sum of reals that is all of its equation, has elements enough, and fills its target.
  bool is_plain_sum(const Equation& e) const {
    const Expr& sum = e.value;
    if (sum.form() != Form::reduce || sum->reduction != spec::Reduction::sum || sum.kind() != Kind::real) return false;
    if (sum->args[0].form() != Form::number || sum->args[0]->number.mantissa == 0 || has_reduction(sum->args[1])) return false;
    const Dims& dims = system_[e.target].dims;
    if (dims.rank == Dims::max_rank || e.binders.size() != dims.rank || dims.count() < threshold("least_passing_elements")) return false;
    for (std::size_t a = 0; a < dims.rank; ++a) {
      if (!(e.place[a] == spec::variable(e.binders[a])) || e.binders[a].extent != dims[a]) return false;
    }
    return true;
  }

  /// The binder of the sum for every loop of a kernel, where the kernel visits what the sum reads by the same rows.
  std::optional<std::vector<Binder>> common_rows(const Kernel& kernel, const Equation& sum, const std::vector<Expr>& reads) const {
    const bool plain = kernel.kind == KernelKind::loops && !kernel.schedule && !kernel.loops.empty();
    if (!plain || kernel.loops.size() != sum.value->binders.size() || stretch_of(kernel.loops) == 0) return std::nullopt;
    Rows rows;
    bool near = false;
    for (const Access& access : accesses_of(system_, kernel)) {
      for (const Expr& r : reads) {
        if (r->tensor != access.tensor) continue;
        if (!agree(access, r, rows)) return std::nullopt;
        near = near || is_large(r->tensor, sum);
      }
    }
    if (!near || rows.size() != kernel.loops.size()) return std::nullopt;
    std::vector<Binder> loops;
    for (const auto& [loop, variable] : rows) {
      const auto is = [v = variable](const Binder& b) { return b.variable == v; };
      const auto b = std::find_if(sum.value->binders.begin(), sum.value->binders.end(), is);
      if (b == sum.value->binders.end() || b->extent != kernel.loops[loop] || std::any_of(loops.begin(), loops.end(), is)) return std::nullopt;
      loops.push_back(*b);
    }
    return loops;
  }

  /// Notes which loops are which binders. \returns false where the kernel writes what the sum reads of other rows.
  static bool agree(const Access& access, const Expr& read, Rows& rows) {
    for (std::size_t axis = 0; axis < access.loops.size(); ++axis) {
      if (!access.loops[axis]) continue;
      const Expr& index = read->args[axis];
      const bool plain = index.form() == Form::variable;
      const bool same = plain && rows.emplace(*access.loops[axis], index->variable).first->second == index->variable;
      if (access.written && !same) return false;
    }
    return true;
  }

  /// What is read along with the terms is most of what they read.
  bool is_large(TensorId t, const Equation& sum) const {
    return 2 * system_[t].dims.count() >= system_[sum.target].dims.count() * points_of(sum.value->binders);
  }

  /// Turns of the outermost loop of rows that add to the same part, or 0 where that is not worth it.
  static std::int64_t stretch_of(const std::vector<std::int64_t>& rows) {
    std::int64_t inside = 1;
    for (std::size_t a = 1; a < rows.size(); ++a) inside *= rows[a];
    if (inside <= 0 || inside > longest_block || rows[0] < threshold("least_turns")) return 0;
    std::int64_t turns = std::min(rows[0] / threshold("least_turns"), longest_block / inside);
    while (turns > 1 && rows[0] % turns != 0) --turns;
    return turns * inside >= threshold("least_passing_terms") ? turns : 0;
  }

  /// Adds the equation of the parts before `equation`, which becomes their sum.
  void lift(Equation& equation, const Beside& beside) {
    const std::int64_t stretch = stretch_of(plan_.kernels[beside.kernel].loops);
    const Binder part = system_.bind("p", beside.loops[0].extent / stretch);
    std::vector<Binder> rows(beside.loops.begin() + 1, beside.loops.end());
    Expr row = spec::variable(part);
    if (stretch > 1) {
      rows.insert(rows.begin(), system_.bind(beside.loops[0].name, stretch));
      row = row * spec::integer(stretch) + spec::variable(rows[0]);
    }
    Equation parts = equation;
    parts.binders.insert(parts.binders.begin(), part);
    parts.place = spec::variables(parts.binders);
    const Expr term = spec::substitute(equation.value->args[1], {{beside.loops[0].variable, row}});
    parts.value = rows.empty() ? term : spec::reduce(spec::Reduction::sum, rows, equation.value->args[0], term);
    parts.target = tensor_of_parts(equation, ".parts", part.extent);
    Decision decision;
    decision.in_passing = system_.equations[plan_.kernels[beside.kernel].statements.front().equation].target;
    add(refreshed(parts), std::move(decision));
    join(equation, parts.target, part.extent);
  }

  TensorId tensor_of_parts(const Equation& equation, const char* suffix, std::int64_t parts) {
    Dims dims;
    dims.push_back(parts);
    for (const Binder& b : equation.binders) dims.push_back(b.extent);
    return system_.add_tensor(system_[equation.target].name + suffix, *type_of_part(system_, equation, equation.value), dims);
  }

  /// Own binders for a copy, whose original keeps its own.
  Equation refreshed(Equation e) {
    spec::Substitution by;
    for (std::size_t b = 1; b < e.binders.size(); ++b) {
      const Binder fresh = system_.bind(e.binders[b].name, e.binders[b].extent);
      by.emplace(e.binders[b].variable, spec::variable(fresh));
      e.binders[b] = fresh;
    }
    for (Expr& p : e.place) p = spec::substitute(p, by);
    e.value = spec::substitute(e.value, by);
    return e;
  }

  /// The equation becomes the sum of all parts; where they are many, of sums of them.
  void join(Equation& equation, TensorId parts, std::int64_t count) {
    while (count > threshold("most_passing_parts")) {
      const std::int64_t next = compiled::parts(count, threshold("most_passing_parts"));
      Equation some = equation;
      const Binder group = system_.bind("p", next);
      some.target = tensor_of_parts(equation, ".joined", next);
      some.binders.insert(some.binders.begin(), group);
      some.place = spec::variables(some.binders);
      const Binder member = system_.bind("m", threshold("most_passing_parts"));
      const Expr number = spec::variable(group) * spec::integer(threshold("most_passing_parts")) + spec::variable(member);
      std::vector<Expr> place{number};
      place.insert(place.end(), equation.place.begin(), equation.place.end());
      const Expr there = count % threshold("most_passing_parts") == 0 ? equation.value->args[0] : spec::apply(spec::Primitive::lt, {number, spec::integer(count)});
      some.value = spec::reduce(spec::Reduction::sum, {member}, there, system_.at(parts, std::move(place)));
      parts = some.target;
      count = next;
      add(refreshed(std::move(some)), {});
    }
    equation.value = sum_of_parts(system_, parts, equation.place, count);
  }

  System& system_;
  const Plan& plan_;
  std::vector<Decision>& decisions_;
  Deciding& deciding_;
  std::vector<bool> recurrent_;
  std::vector<std::size_t> kernel_of_;
  std::vector<std::size_t> writer_;  ///< per tensor, the last kernel that writes it
  std::vector<Equation> result_;
};

}  // namespace

bool add_in_passing(System& system, const Plan& plan, std::vector<Decision>& decisions, Deciding& deciding) {
  return Passing(system, plan, decisions, deciding).run();
}

}  // namespace etalon::compiled
