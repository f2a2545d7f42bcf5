#include "spec/system/recurrence.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "spec/error.hpp"
#include "spec/system/reach.hpp"

namespace etalon::spec {

namespace {

std::size_t at(TensorId t) { return static_cast<std::size_t>(t); }

bool in_table(const System& system, TensorId t) { return t >= 0 && at(t) < system.tensors.size(); }

void for_each_read(const Equation& e, const std::function<void(const Expr&)>& visit) {
  const auto only_reads = [&](const Expr& x) {
    if (x.form() == Form::read) visit(x);
  };
  for_each(e.value, only_reads);
  for (const Expr& p : e.place) for_each(p, only_reads);
}

/// Strongly connected targets among a stretch of equations, by Tarjan's algorithm.
class Components {
 public:
  Components(const System& system, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i <= last; ++i) nodes_[system.equations[i].target].equations.push_back(i);
    for (std::size_t i = first; i <= last; ++i) {
      Node& node = nodes_.at(system.equations[i].target);
      for_each_read(system.equations[i], [&](const Expr& r) {
        if (nodes_.contains(r->tensor)) node.reads.push_back(r->tensor);
      });
    }
  }

  std::vector<std::vector<std::size_t>> run() {
    for (const auto& [tensor, node] : nodes_) {
      if (node.number < 0) visit(tensor);
    }
    return std::move(found_);
  }

 private:
  struct Node {
    std::vector<std::size_t> equations;
    std::vector<TensorId> reads;
    int number = -1;
    int low = 0;
    bool open = false;
  };

  void visit(TensorId tensor) {
    Node& node = nodes_.at(tensor);
    node.number = node.low = next_++;
    node.open = true;
    stack_.push_back(tensor);
    for (const TensorId r : node.reads) {
      Node& other = nodes_.at(r);
      if (other.number < 0) visit(r);
      if (other.open) node.low = std::min(node.low, other.low);
    }
    if (node.low == node.number) close(tensor, node);
  }

  void close(TensorId tensor, const Node& node) {
    std::vector<std::size_t> equations;
    const bool itself = std::find(node.reads.begin(), node.reads.end(), tensor) != node.reads.end();
    const bool recurrent = stack_.back() != tensor || itself;
    TensorId t = -1;
    do {
      t = stack_.back();
      stack_.pop_back();
      Node& n = nodes_.at(t);
      n.open = false;
      equations.insert(equations.end(), n.equations.begin(), n.equations.end());
    } while (t != tensor);
    std::sort(equations.begin(), equations.end());
    if (recurrent) found_.push_back(std::move(equations));
  }

  std::map<TensorId, Node> nodes_;
  std::vector<TensorId> stack_;
  std::vector<std::vector<std::size_t>> found_;
  int next_ = 0;
};

/// Stretches of equations outside which nothing is read before its last equation; [first, last].
std::vector<std::pair<std::size_t, std::size_t>> unordered_stretches(const System& system) {
  std::vector<std::optional<std::size_t>> last(system.tensors.size());
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    if (in_table(system, system.equations[i].target)) last[at(system.equations[i].target)] = i;
  }
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < system.equations.size(); ++i) {
    std::optional<std::size_t> end;
    for_each_read(system.equations[i], [&](const Expr& r) {
      const auto writer = in_table(system, r->tensor) ? last[at(r->tensor)] : std::nullopt;
      if (writer && *writer >= i) end = std::max(end.value_or(i), *writer);
    });
    if (!end) continue;
    if (!found.empty() && found.back().second >= i) found.back().second = std::max(found.back().second, *end);
    else found.emplace_back(i, *end);
  }
  return found;
}

/// A read of a target of the recurrence, with what is known where it is reached.
struct Edge {
  std::size_t equation;
  Expr read;
  Ranges known;
};

/// Finds the axes of one recurrence's targets and its direction.
class Prover {
 public:
  Prover(const System& system, const std::vector<std::size_t>& group) : system_(system), group_(group) {
    for (const std::size_t i : group) last_[equation(i).target] = i;
    Ranges base;
    base.tensors = std::make_shared<const std::vector<Interval>>(value_ranges(system));
    for (const std::size_t i : group) {
      Ranges known = base;
      known.bind(equation(i).binders);
      for_each_reached(equation(i).value, known, [&](const Expr& x, const Ranges& here) {
        if (x.form() == Form::read && last_.contains(x->tensor)) edges_.push_back({i, x, here});
      });
    }
    for (const auto& [tensor, last] : last_) add_connected(tensor);
  }

  Recurrence run() {
    for (const bool backwards : {false, true}) {
      backwards_ = backwards;
      axes_.clear();
      if (assign(0)) return result();
    }
    const TensorInfo& first = system_[equation(group_.front()).target];
    std::string text = "system: " + first.name + ": no axis along which every read of ";
    text += last_.size() > 1 ? "the tensors that depend on each other (" : "itself";
    if (last_.size() > 1) {
      for (const auto& [tensor, last] : last_) text += (text.back() == '(' ? "" : ", ") + system_[tensor].name;
      text += ")";
    }
    throw SpecViolation(text + " is proved to be at a smaller index, nor one along which every read is at a larger; in `" +
                        first.name + " = " + to_text(system_, equation(group_.front()).value) + "`");
  }

 private:
  const Equation& equation(std::size_t i) const { return system_.equations[i]; }

  /// Targets in an order in which each but the first is read by or reads an earlier one.
  void add_connected(TensorId tensor) {
    if (std::find(order_.begin(), order_.end(), tensor) != order_.end()) return;
    order_.push_back(tensor);
    for (const Edge& e : edges_) {
      const TensorId target = equation(e.equation).target;
      if (target == tensor) add_connected(e.read->tensor);
      if (e.read->tensor == tensor) add_connected(target);
    }
  }

  bool assign(std::size_t next) {
    if (next == order_.size()) return true;
    const TensorId tensor = order_[next];
    const Dims& dims = system_[tensor].dims;
    for (std::size_t axis = 0; axis < dims.rank; ++axis) {
      if (next > 0 && dims[axis] != steps()) continue;
      axes_[tensor] = axis;
      if (plain(tensor, axis) && ordered(tensor) && assign(next + 1)) return true;
    }
    axes_.erase(tensor);
    return false;
  }

  std::int64_t steps() const { return system_[order_[0]].dims[axes_.at(order_[0])]; }

  std::optional<std::size_t> binder_at(const Equation& e, std::size_t axis) const {
    for (std::size_t b = 0; b < e.binders.size(); ++b) {
      const bool here = e.place[axis].form() == Form::variable && e.place[axis]->variable == e.binders[b].variable;
      if (here && e.binders[b].extent == system_[e.target].dims[axis]) return b;
    }
    return std::nullopt;
  }

  bool plain(TensorId tensor, std::size_t axis) const {
    return std::all_of(group_.begin(), group_.end(), [&](std::size_t i) {
      return equation(i).target != tensor || binder_at(equation(i), axis);
    });
  }

  /// Whether all reads between this target and those before it go back, as far as their axes are chosen.
  bool ordered(TensorId tensor) const {
    return std::all_of(edges_.begin(), edges_.end(), [&](const Edge& e) {
      const TensorId target = equation(e.equation).target;
      if (target != tensor && e.read->tensor != tensor) return true;
      if (!axes_.contains(target) || !axes_.contains(e.read->tensor)) return true;
      const Affine from = affine(e.read->args[axes_.at(e.read->tensor)], e.known);
      const Affine step = affine(equation(e.equation).place[axes_.at(target)], e.known);
      const Interval back = interval(backwards_ ? from - step : step - from, e.known);
      return back.low >= (last_.at(e.read->tensor) < e.equation ? 0 : 1) || e.known.contradictory;
    });
  }

  Recurrence result() const {
    Recurrence r;
    r.steps = steps();
    r.backwards = backwards_;
    for (const std::size_t i : group_) {
      const std::size_t axis = axes_.at(equation(i).target);
      r.equations.push_back({i, axis, *binder_at(equation(i), axis)});
    }
    return r;
  }

  const System& system_;
  const std::vector<std::size_t>& group_;
  std::map<TensorId, std::size_t> last_;  ///< the last equation of each target
  std::vector<Edge> edges_;
  std::vector<TensorId> order_;
  std::map<TensorId, std::size_t> axes_;
  bool backwards_ = false;
};

/// Emits equations after what they read, those of one recurrence together.
class Ordering {
 public:
  explicit Ordering(System& system) : system_(system), done_(system.equations.size(), false) {
    groups_ = recurrent_groups(system);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const std::size_t i : groups_[g]) group_of_[i] = g;
    }
    for (std::size_t i = 0; i < system.equations.size(); ++i) writers_[system.equations[i].target].push_back(i);
  }

  void run() {
    for (std::size_t i = 0; i < done_.size(); ++i) emit(i);
    std::vector<Equation> equations;
    for (const std::size_t i : order_) equations.push_back(std::move(system_.equations[i]));
    system_.equations = std::move(equations);
  }

 private:
  void emit(std::size_t i) {
    if (done_[i]) return;
    const auto group = group_of_.find(i);
    const std::vector<std::size_t> alone{i};
    const std::vector<std::size_t>& own = group == group_of_.end() ? alone : groups_[group->second];
    for (const std::size_t e : own) done_[e] = true;
    for (const std::size_t e : own) {
      for_each_read(system_.equations[e], [&](const Expr& r) {
        const auto writers = writers_.find(r->tensor);
        if (writers == writers_.end()) return;
        for (const std::size_t w : writers->second) emit(w);
      });
    }
    order_.insert(order_.end(), own.begin(), own.end());
  }

  System& system_;
  std::vector<bool> done_;
  std::vector<std::vector<std::size_t>> groups_;
  std::unordered_map<std::size_t, std::size_t> group_of_;
  std::unordered_map<TensorId, std::vector<std::size_t>> writers_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::vector<std::size_t>> recurrent_groups(const System& system) {
  std::vector<std::vector<std::size_t>> groups;
  for (const auto& [first, last] : unordered_stretches(system)) {
    for (auto& g : Components(system, first, last).run()) groups.push_back(std::move(g));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::vector<Recurrence> recurrences(const System& system) {
  std::vector<Recurrence> found;
  for (const auto& group : recurrent_groups(system)) {
    if (group.back() - group.front() + 1 != group.size()) {
      throw SpecViolation("system: " + system[system.equations[group.front()].target].name +
                          ": the equations of its recurrence do not stand together");
    }
    found.push_back(Prover(system, group).run());
  }
  return found;
}

void order_equations(System& system) {
  if (!unordered_stretches(system).empty()) Ordering(system).run();
}

bool reads_any(const Expr& e, const std::vector<bool>& marked) {
  bool found = false;
  for_each(e, [&](const Expr& x) {
    found = found || (x.form() == Form::read && at(x->tensor) < marked.size() && marked[at(x->tensor)]);
  });
  return found;
}

}  // namespace etalon::spec
