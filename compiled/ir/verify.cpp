#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiled/ir/accesses.hpp"
#include "compiled/ir/blocks.hpp"
#include "compiled/ir/depth.hpp"
#include "compiled/ir/lanes.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/ir/whole_lines.hpp"
#include "compiled/ir/windows.hpp"
#include "spec/error.hpp"

namespace etalon::compiled::loops {

namespace {

class Verifier {
 public:
  Verifier(const spec::System& system, const Nest& nest) : system_(system), nest_(nest) {
    for (const Buffer& b : nest.buffers) require(buffers_.emplace(b.tensor, &b).second, fmt::format("`{}` is one buffer", system[b.tensor].name));
    for (const TensorId t : nest.zeroed) touches(t, true);
    const auto fills = [](const Step& s) { return std::holds_alternative<Reduce>(s.is) || std::holds_alternative<Define>(s.is); };
    if (!nest.steps.empty() && std::all_of(nest.steps.begin(), nest.steps.end() - 1, fills)) may_be_shared_ = std::get_if<Loop>(&nest.steps.back().is);
  }

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

  [[nodiscard]] std::string text_of(const Access& a) const {
    std::string place;
    for (const Expr& index : a.place) place += (place.empty() ? "" : ", ") + to_text(system_, index);
    return fmt::format("{}[{}]", system_[a.tensor].name, place);
  }

  void touches(TensorId t, bool written) const {
    const auto b = buffers_.find(t);
    require(b != buffers_.end(), fmt::format("`{}` is among its buffers", system_[t].name));
    require(written ? b->second->written : b->second->read, fmt::format("`{}` is {} as its buffer says", system_[t].name, written ? "written" : "read"));
  }

  /// Threads share the last step, and on a grid what stands alone in it.
  void bound(const Loop& loop) {
    if (loop.bind == Bind::serial) return;
    if (loop.bind == Bind::unrolled) {
      require(!loop.in_lanes() && !loop.limit.valid(), "loops that are written out have no lanes and no limit");
      return require(loop.binder.extent <= longest_block, "loops that are written out are short");
    }
    require(&loop == may_be_shared_, "threads share the last step, after steps that fill registers");
    require(!loop.limit.valid(), "a loop that threads share has no limit");
    may_be_shared_ = loop.bind == Bind::grid && loop.steps.size() == 1 ? std::get_if<Loop>(&loop.steps.front().is) : nullptr;
    const Accesses all = accesses_of(nest_.steps);
    if (all.in_tiles) return;
    for (const Access& a : all.elements) touches(a.tensor, a.write);
    const auto own = [&](TensorId t) { return buffers_.at(t)->scope == Scope::thread; };
    const std::optional<Meeting> found = meeting(system_, all, loop.binder.variable, own, [](TensorId, TensorId) { return false; });
    if (found) {
      require(false, fmt::format("threads that share `{}` meet: one writes {}, another one {} {}", loop.binder.name, text_of(found->written),
                                 found->touched.write ? "writes" : "reads", text_of(found->touched)));
    }
  }

  void enter(const Loop& loop) {
    require(loop.binder.extent >= 0, "an extent is not negative");
    bound(loop);
    if (loop.limit.valid()) {
      require(!loop.in_lanes(), "lanes have no limit");
      expression(loop.limit);
    }
    require(std::has_single_bit(loop.width) && loop.width <= most_lanes, fmt::format("lanes are a power of two, at most {}", most_lanes));
    if (loop.in_lanes()) {
      require(!in_lanes_, "lanes do not nest");
      in_lanes_ = true;
    }
    require(defined_.insert(loop.binder.variable).second, "a loop variable is bound once");
    extents_[loop.binder.variable] = loop.binder.extent;
    for (const FetchedRow& row : loop.fetched) {
      require(in_lanes_ && row.element.form() == spec::Form::read, "what is fetched is an element, by a lanes loop");
      for (const Expr& index : row.element->args) expression(index);
      touches(row.element->tensor, row.write);
    }
  }

  /// What a merged loop writes is touched in it only at the element at hand. A reduction's expressions belong to its loop.
  void merged(const Loop& loop, const Reduce* r) {
    if (loop.merged.empty()) return;
    require(loop.in_lanes(), "only lanes loops are merged");
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
      require(lanes.in_lanes() && may_stream(system_, lanes, *store), "what goes around the caches is whole vectors within lines");
    }
  }

  void leave(const Loop& loop) {
    if (loop.in_lanes()) in_lanes_ = false;
  }

  void step(const Loop& loop) {
    const std::set<spec::VariableId> outer = defined_;
    enter(loop);
    if (loop.in_lanes()) {
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
    tree(r);
    define(r.target);
  }

  /// Chains are the lanes, and as short as the contract of the backend declares.
  void tree(const Reduce& r) const {
    const bool position = r.reduction == spec::Reduction::argmax || r.reduction == spec::Reduction::argmin;
    const bool real_sum = r.reduction == spec::Reduction::sum && r.body.kind() == Kind::real;
    require(r.tree.chains == (r.loops.empty() ? 1 : r.loops.back().width), "a reduction has a chain for each lane of its innermost loop");
    require(!position || r.tree.chains == 1, "positions are found in one chain");
    if (r.tree.blocks) {
      require(real_sum, "only sums of reals are cut into blocks");
      require(r.tree.blocks->level < r.loops.size() && r.tree.blocks->turns >= 1, "a block of a chain is turns of one of its loops");
    }
    require(!real_sum || longest_sequence(r) <= longest_block, "a chain of a sum takes in no more terms in sequence than the contract declares");
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
    require(!loop.in_lanes() || level + 1 == r.loops.size(), "the lanes of a reduction are innermost");
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
    touches(store.tensor, true);
    if (store.add) touches(store.tensor, false);
    for (const Expr& p : store.place) expression(p);
    if (store.guard.valid()) expression(store.guard);
    expression(store.value);
    require(store.value.kind() == kind_of(system_[store.tensor].dtype), "a value that is stored is of its tensor's kind");
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
    require(std::has_single_bit(t.width) && t.width <= most_lanes, fmt::format("lanes are a power of two, at most {}", most_lanes));
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
        touches(e->tensor, false);
        break;
      default: break;
    }
    for (const Expr& a : e->args) expression(a);
  }

  const spec::System& system_;
  const Nest& nest_;
  std::map<TensorId, const Buffer*> buffers_;
  const Loop* may_be_shared_ = nullptr;
  std::set<spec::VariableId> defined_;
  Extents extents_;
  bool in_lanes_ = false;
};

}  // namespace

void verify(const spec::System& system, const Nest& nest) {
  Verifier(system, nest).steps(nest.steps);
}

}  // namespace etalon::compiled::loops
