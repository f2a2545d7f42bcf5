#include <algorithm>
#include <unordered_map>
#include <utility>

#include "spec/system/recurrence.hpp"
#include "spec/system/verify.hpp"

namespace etalon::spec {

namespace {

class Verifier {
 public:
  explicit Verifier(const System& system) : system_(system), defined_(system.tensors.size(), false) {}

  void run() {
    check_tables();
    known_.tensors = std::make_shared<const std::vector<Interval>>(value_ranges(system_));
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      last_writer_[system_.equations[i].target] = i;
      writers_[system_.equations[i].target].push_back(&system_.equations[i]);
    }
    const auto groups = recurrent_groups(system_);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t i : groups[g]) group_of_[system_.equations[i].target] = g;
    }
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      current_ = &system_.equations[i];
      check_equation(*current_);
      if (last_writer_.at(current_->target) == i) check_written(current_->target);
    }
    current_ = nullptr;
    if (!groups.empty()) static_cast<void>(recurrences(system_));
    for (const TensorId t : system_.outputs) {
      if (!defined_[static_cast<std::size_t>(t)]) fail(t, "the output is neither an input nor written");
    }
  }

 private:
  [[noreturn]] void fail(TensorId tensor, const std::string& rule, Broken broken = {}) const {
    const bool known = tensor >= 0 && static_cast<std::size_t>(tensor) < system_.tensors.size();
    std::string text = "system: " + (known ? system_[tensor].name : "tensor " + std::to_string(tensor)) + ": " + rule;
    if (current_ != nullptr) text += "; in `" + system_[current_->target].name + " = " + shown(current_->value) + "`";
    broken.tensor = tensor;
    if (current_ != nullptr && !broken.miswritten) broken.equation = static_cast<std::size_t>(current_ - system_.equations.data());
    throw IllFormed(text, std::move(broken));
  }

  [[nodiscard]] std::string shown(const Expr& e) const {
    const std::string text = to_text(system_, e);
    constexpr std::size_t enough = 400;
    return text.size() <= enough ? text : text.substr(0, enough) + "...";
  }

  void check_id(TensorId t, const char* what) const {
    if (t < 0 || static_cast<std::size_t>(t) >= system_.tensors.size()) fail(t, std::string(what) + " does not exist");
  }

  void check_tables() {
    for (const TensorId t : system_.inputs) {
      check_id(t, "the input");
      if (defined_[static_cast<std::size_t>(t)]) fail(t, "it is an input twice");
      defined_[static_cast<std::size_t>(t)] = true;
    }
    for (const TensorId t : system_.outputs) check_id(t, "the output");
    for (const Equation& e : system_.equations) {
      check_id(e.target, "the target");
      if (defined_[static_cast<std::size_t>(e.target)]) fail(e.target, "an input is written");
    }
    for (std::size_t i = 0; i < system_.tensors.size(); ++i) {
      for (const std::int64_t extent : system_.tensors[i].dims) {
        if (extent < 0) fail(static_cast<TensorId>(i), "an extent is negative");
      }
    }
  }

  void check_equation(const Equation& e) {
    const TensorInfo& target = system_[e.target];
    if (e.place.size() != target.dims.rank) fail(e.target, "the left side has the wrong rank");
    for (const Expr& p : e.place) {
      if (p.kind() != Kind::integer) fail(e.target, "a place is not an integer");
    }
    if (e.value.kind() != kind_of(target.dtype)) fail(e.target, "the right side is not of the target's kind");
    std::vector<VariableId> bound;
    check_binders(e.binders, bound);
    for (const Expr& p : e.place) check_expression(p, bound);
    check_expression(e.value, bound);
    for (const Expr& p : e.place) forbid_reads(p);
    Ranges known = known_;
    known.bind(e.binders);
    const bool empty = std::any_of(e.binders.begin(), e.binders.end(), [](const Binder& b) { return b.extent == 0; });
    if (empty) return;
    if (const auto fault = first_fault(system_, e.value, known)) fail(e.target, fault->rule + " at " + shown(fault->where), {.fault = fault});
  }

  void forbid_reads(const Expr& place) const {
    for_each(place, [&](const Expr& x) {
      if (x.form() == Form::read) fail(current_->target, "a place depends on data");
    });
  }

  void check_binders(const std::vector<Binder>& binders, std::vector<VariableId>& bound) const {
    for (const Binder& b : binders) {
      if (b.extent < 0) fail(current_->target, "an index variable has a negative extent");
      if (std::find(bound.begin(), bound.end(), b.variable) != bound.end()) {
        fail(current_->target, "an index variable is bound twice");
      }
      bound.push_back(b.variable);
    }
  }

  /// Ids, kinds, ranks, scoping and order; parents before children.
  void check_expression(const Expr& e, std::vector<VariableId>& bound) const {
    if (e.form() == Form::variable && std::find(bound.begin(), bound.end(), e->variable) == bound.end()) {
      fail(current_->target, "index variable " + e->name + " is not bound");
    }
    if (e.form() == Form::read) check_read(e);
    const std::size_t outside = bound.size();
    if (e.form() == Form::reduce) check_binders(e->binders, bound);
    for (std::size_t i = 0; i < e->args.size(); ++i) {
      if (e.form() == Form::reduce && i == 2) bound.resize(outside);
      check_expression(e->args[i], bound);
    }
    bound.resize(outside);
  }

  void check_read(const Expr& e) const {
    check_id(e->tensor, "a tensor that is read");
    const TensorInfo& tensor = system_[e->tensor];
    if (e->args.size() != tensor.dims.rank) fail(e->tensor, "a read has the wrong rank");
    if (e.kind() != kind_of(tensor.dtype)) fail(e->tensor, "a read is not of the tensor's kind");
    if (defined_[static_cast<std::size_t>(e->tensor)]) return;
    const auto own = group_of_.find(current_->target);
    const auto other = group_of_.find(e->tensor);
    const bool recurrent = own != group_of_.end() && other != group_of_.end() && own->second == other->second;
    if (!recurrent) fail(e->tensor, "it is read before it is written");
  }

  void check_written(TensorId target) {
    const std::vector<const Equation*>& writers = writers_.at(target);
    if (const auto why = why_not_written_once(system_, target, writers)) {
      Broken broken{.miswritten = why};
      if (why->writer < writers.size()) broken.equation = static_cast<std::size_t>(writers[why->writer] - system_.equations.data());
      fail(target, why->rule, std::move(broken));
    }
    defined_[static_cast<std::size_t>(target)] = true;
  }

  const System& system_;
  std::vector<bool> defined_;
  std::unordered_map<TensorId, std::size_t> last_writer_;
  std::unordered_map<TensorId, std::vector<const Equation*>> writers_;
  std::unordered_map<TensorId, std::size_t> group_of_;  ///< of targets in a recurrence
  Ranges known_;
  const Equation* current_ = nullptr;
};

}  // namespace

void verify(const System& system) { Verifier(system).run(); }

}  // namespace etalon::spec
