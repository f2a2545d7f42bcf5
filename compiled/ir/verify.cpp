#include <set>

#include <fmt/format.h>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/whole_lines.hpp"
#include "compiled/ir/windows.hpp"
#include "spec/error.hpp"

namespace etalon::compiled::loops {

namespace {

class Verifier {
 public:
  Verifier(const spec::System& system, const Nest& nest) : system_(system), nest_(nest) {}

  void steps(const std::vector<Step>& all) {
    const std::set<spec::VariableId> outer = defined_;
    for (const Step& s : all) {
      std::visit([&](const auto& one) { step(one); }, s.is);
    }
    defined_ = outer;
  }

 private:
  void require(bool holds, const std::string& rule) const {
    if (!holds) throw InternalError(fmt::format("loops: kernel {}: {}", nest_.name, rule));
  }

  void enter(const Loop& loop) {
    require(loop.binder.extent >= 0, "an extent is not negative");
    if (loop.limit.valid()) {
      require(loop.kind == LoopKind::serial, "lanes have no limit");
      expression(loop.limit);
    }
    if (loop.kind == LoopKind::lanes) {
      require(!in_lanes_, "lanes do not nest");
      require(loop.width >= 2, "lanes are at least two");
      in_lanes_ = true;
    }
    require(defined_.insert(loop.binder.variable).second, "a loop variable is bound once");
    extents_[loop.binder.variable] = loop.binder.extent;
    for (const FetchedRow& row : loop.fetched) {
      require(in_lanes_ && row.element.form() == spec::Form::read, "what is fetched is an element, by a lanes loop");
      expression(row.element);
    }
  }

  /// What a merged loop writes is touched in it only at the element at hand. A reduction's expressions belong to its loop.
  void merged(const Loop& loop, const Reduce* r) {
    if (loop.merged.empty()) return;
    require(loop.kind == LoopKind::lanes, "only lanes loops are merged");
    Step one{};
    if (r != nullptr) one.is = *r;
    else one.is = loop;
    const std::vector<Access> all = accesses_of(one).elements;
    for (const Access& w : all) {
      if (!w.write) continue;
      require(element_number(w.place, system_[w.tensor].dims).coefficient(loop.binder.variable) != 0, "merged lanes write different elements");
      for (const Access& other : all) require(other.tensor != w.tensor || other.place == w.place, "merged loops meet in the element at hand alone");
    }
  }

  void streamed(const Loop& lanes) const {
    for (const Step& s : lanes.steps) {
      const auto* store = std::get_if<Store>(&s.is);
      if (store == nullptr || !store->streamed) continue;
      require(lanes.kind == LoopKind::lanes && may_stream(system_, lanes, *store), "what goes around the caches is whole vectors within lines");
    }
  }

  void leave(const Loop& loop) {
    if (loop.kind == LoopKind::lanes) in_lanes_ = false;
  }

  void step(const Loop& loop) {
    const std::set<spec::VariableId> outer = defined_;
    enter(loop);
    if (loop.kind == LoopKind::lanes) {
      for (const Step& s : loop.steps) require(!std::holds_alternative<Loop>(s.is), "a lanes loop is innermost");
    }
    merged(loop, nullptr);
    streamed(loop);
    steps(loop.steps);
    leave(loop);
    defined_ = outer;
  }

  void step(const Reduce& r) {
    if (r.reached.valid()) expression(r.reached);
    if (r.otherwise.valid()) expression(r.otherwise);
    inside(r, 0);
    define(r.target);
  }

  void inside(const Reduce& r, std::size_t level) {
    const std::set<spec::VariableId> outer = defined_;
    if (level == r.loops.size()) {
      expression(r.guard);
      expression(r.body);
      return;
    }
    const Loop& loop = r.loops[level];
    require(!loop.limit.valid(), "a reduction's loops have no limit");
    require(loop.kind != LoopKind::lanes || level + 1 == r.loops.size(), "the lanes of a reduction are innermost");
    enter(loop);
    merged(loop, &r);
    streamed(loop);
    for (const Step& s : loop.steps) {
      std::visit([&](const auto& one) { step(one); }, s.is);
    }
    inside(r, level + 1);
    leave(loop);
    defined_ = outer;
  }

  void step(const Store& store) {
    require(store.place.size() == system_[store.tensor].dims.rank, "a place has its tensor's rank");
    for (const Expr& p : store.place) expression(p);
    if (store.guard.valid()) expression(store.guard);
    expression(store.value);
  }

  void step(const Define& d) {
    expression(d.value);
    define(d.target);
  }

  void step(const Contract& c) {
    verify_contraction(system_, nest_.name, c, extents_);
    expression(c.first_row);
    expression(c.first_column);
    const std::set<spec::VariableId> outer = defined_;
    for (const Binder& b : c.depth) require(defined_.insert(b.variable).second, "a loop variable is bound once");
    for (const Binder& b : {c.row, c.column}) require(defined_.insert(b.variable).second, "a loop variable is bound once");
    expression(c.left);
    expression(c.right);
    if (c.guard.valid()) expression(c.guard);
    if (c.taps.valid()) expression(c.taps);
    if (c.wanted.valid()) {
      require(at_least_zero(c.wanted).has_value(), "tiles are left out by an inequality between loops");
      for (const Binder& b : c.depth) require(!mentions(c.wanted, b.variable), "tiles are left out as a whole");
      expression(c.wanted);
    }
    for (const Binder& b : c.depth) defined_.erase(b.variable);
    require(!in_lanes_, "lanes do not nest");
    define(c.target);
    steps(c.steps);
    defined_ = outer;
  }

  void step(const Transpose& t) {
    require(!in_lanes_, "lanes do not nest");
    require(t.width >= 2 && t.down.extent % t.width == 0, "squares are whole along the loop of the store");
    const std::set<spec::VariableId> outer = defined_;
    for (const Binder& b : {t.across, t.down}) require(defined_.insert(b.variable).second, "a loop variable is bound once");
    expression(t.value);
    define(t.target);
    require(!t.store.add && !t.store.guard.valid(), "a store of squares is a plain one");
    step(t.store);
    defined_ = outer;
  }

  void define(Register r) { require(defined_.insert(r).second, fmt::format("register r{} is written once", r)); }

  void expression(const Expr& e) const {
    switch (e.form()) {
      case spec::Form::variable:
        require(defined_.count(e->variable) != 0, fmt::format("`{}` is used where it has no value", e->name));
        break;
      case spec::Form::reduce:
      case spec::Form::detach: require(false, "reductions and detach are gone from expressions"); break;
      case spec::Form::read:
        require(e->args.size() == system_[e->tensor].dims.rank, "a read has its tensor's rank");
        break;
      default: break;
    }
    for (const Expr& a : e->args) expression(a);
  }

  const spec::System& system_;
  const Nest& nest_;
  std::set<spec::VariableId> defined_;
  Extents extents_;
  bool in_lanes_ = false;
};

}  // namespace

void verify(const spec::System& system, const Nest& nest) {
  Verifier(system, nest).steps(nest.steps);
  const Loop* shared = nest.parallel && !nest.steps.empty() ? std::get_if<Loop>(&nest.steps.back().is) : nullptr;
  if (shared != nullptr && shared->limit.valid()) throw InternalError(fmt::format("loops: kernel {}: a loop that threads share has no limit", nest.name));
}

}  // namespace etalon::compiled::loops
