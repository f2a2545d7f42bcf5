/// \file
/// Fusion, and buffers by liveness.
#include "plan.hpp"

#include <algorithm>
#include <map>

#include "defect.hpp"

namespace weft {
namespace {

class Planner {
 public:
  Planner(const Graph& g, const std::vector<int>& outputs)
      : g_(g),
        outputs_(outputs),
        uses_(g.nodes.size(), 0),
        kept_(g.nodes.size(), false),
        needed_(g.nodes.size(), false) {}

  Plan run() {
    for (const int id : outputs_) need(root(id));
    count_uses();
    choose();
    last_reads();
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (needed_[i] && kept_[i]) emit(static_cast<int>(i));
    }
    for (const int id : outputs_) plan_.outputs.push_back({at(root(id)), node(id).type, node(id).shape});
    return std::move(plan_);
  }

 private:
  const Node& node(int id) const { return g_.nodes[static_cast<std::size_t>(id)]; }
  int root(int id) const {
    while (node(id).op == Op::reshape) id = node(id).in[0];
    return id;
  }
  Int size(int id) const { return size_of(node(id).shape); }

  void need(int id) {
    if (needed_[static_cast<std::size_t>(id)]) return;
    needed_[static_cast<std::size_t>(id)] = true;
    for (const int k : node(id).in) need(root(k));
  }

  void count_uses() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (!needed_[i]) continue;
      for (const int k : g_.nodes[i].in) ++uses_[static_cast<std::size_t>(root(k))];
    }
  }

  /// Which values are in memory: outputs, what is read twice, and what a step that is no kernel reads or gives.
  void choose() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      const Node& n = g_.nodes[i];
      if (!needed_[i] || n.op == Op::input || n.op == Op::reshape) continue;
      if (!is_elementwise(n.op) && n.op != Op::move && n.op != Op::constant) kept_[i] = true;
      if (uses_[i] != 1 && n.op != Op::constant) kept_[i] = true;
      if (is_elementwise(n.op)) continue;
      for (const int k : n.in) keep(root(k));
    }
    for (const int id : outputs_) keep(root(id));
    // A kernel of few reads and no end is cut.
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (needed_[i] && !kept_[i] && is_elementwise(g_.nodes[i].op) && depth(static_cast<int>(i)) > 24) kept_[i] = true;
    }
  }

  void keep(int id) {
    if (node(id).op != Op::input) kept_[static_cast<std::size_t>(id)] = true;
  }

  int depth(int id) const {
    if (kept_[static_cast<std::size_t>(id)] || !is_elementwise(node(id).op)) return 0;
    int deepest = 0;
    for (const int k : node(id).in) deepest = std::max(deepest, depth(root(k)));
    return deepest + 1;
  }

  /// The kept values that computing a kept value reads.
  void reads(int id, std::vector<int>& into, bool top = true) const {
    if (!top && (kept_[static_cast<std::size_t>(id)] || node(id).op == Op::input)) {
      into.push_back(id);
      return;
    }
    // A view is no reader of its own: what reads it reads the memory under it.
    if (node(id).op == Op::move && defect("views-do-not-keep-their-memory")) return;
    for (const int k : node(id).in) reads(root(k), into, false);
  }

  void last_reads() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
      if (!needed_[i] || !kept_[i]) continue;
      std::vector<int> read;
      reads(static_cast<int>(i), read);
      for (const int k : read) last_[k] = static_cast<int>(i);
    }
    const int end = static_cast<int>(g_.nodes.size());
    for (const int id : outputs_) {
      if (node(root(id)).op == Op::input && last_.count(root(id)) != 0 && defect("donated-inputs-that-are-outputs")) continue;
      last_[root(id)] = end;
    }
  }

  Where at(int id) const {
    if (node(id).op == Op::input) return {true, id};
    return where_.at(id);
  }

  int fresh_buffer() {
    if (!free_.empty()) {
      const int b = free_.back();
      free_.pop_back();
      return b;
    }
    return plan_.buffers++;
  }

  int tape(int id, bool top, std::vector<Instruction>& into) {
    const Node& n = node(id);
    Instruction i;
    i.type = n.type;
    const bool memory = !top && (kept_[static_cast<std::size_t>(id)] || n.op == Op::input);
    if (memory) {
      i.kind = Instruction::Kind::load;
      i.source = at(id);
      direct_.push_back(id);
    } else if (n.op == Op::constant) {
      i.kind = Instruction::Kind::constant;
      i.value = n.value;
    } else if (n.op == Op::move) {
      i.kind = Instruction::Kind::load;
      i.source = at(root(n.in[0]));
      i.map = n.map;
      i.value = n.value;
      mapped_.push_back(root(n.in[0]));
    } else {
      accumulates_ = accumulates_ || n.accumulates;
      i.op = n.op;
      i.from = node(n.in[0]).type;
      int* const registers[] = {&i.a, &i.b, &i.c};
      for (std::size_t k = 0; k < n.in.size(); ++k) *registers[k] = tape(root(n.in[k]), false, into);
    }
    into.push_back(std::move(i));
    return static_cast<int>(into.size()) - 1;
  }

  static bool has(const std::vector<int>& list, int id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  }

  /// A buffer that a kernel may overwrite as it reads it: of an operand that ends here, read at each place's own step.
  int in_place(int id) const {
    for (const int k : direct_) {
      if (size(k) != size(id) || has(mapped_, k)) continue;
      const bool anew = accumulates_ && node(k).op != Op::input && defect("cotangents-accumulate-into-their-first-term");
      if (last_.count(k) == 0 || (last_.at(k) != id && !anew)) continue;
      return k;
    }
    return -1;
  }

  void emit(int id) {
    const Node& n = node(id);
    Step s;
    s.node = n;
    direct_.clear();
    accumulates_ = false;
    mapped_.clear();
    int taken = -1;
    if (is_elementwise(n.op) || n.op == Op::move || n.op == Op::constant) {
      tape(id, true, s.tape);
      taken = in_place(id);
    }
    std::vector<int> read;
    reads(id, read);
    for (const int k : n.in) {
      if (!s.tape.empty()) break;
      s.operands.push_back(at(root(k)));
      s.sizes.push_back(size(root(k)));
    }
    if (taken >= 0 && node(taken).op == Op::input) s.donated = taken;
    s.result.index = taken >= 0 && s.donated < 0 ? where_.at(taken).index : fresh_buffer();
    where_[id] = s.result;
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    for (const int k : read) {
      if (node(k).op != Op::input && last_.count(k) != 0 && last_.at(k) == id && k != taken) free_.push_back(where_.at(k).index);
    }
    plan_.steps.push_back(std::move(s));
  }

  const Graph& g_;
  const std::vector<int>& outputs_;
  std::vector<int> uses_;
  std::vector<bool> kept_, needed_;
  std::map<int, int> last_;
  std::map<int, Where> where_;
  std::vector<int> free_, direct_, mapped_;
  bool accumulates_ = false;
  Plan plan_;
};

}  // namespace

Plan planned(const Graph& g, const std::vector<int>& outputs) { return Planner(g, outputs).run(); }

}  // namespace weft
