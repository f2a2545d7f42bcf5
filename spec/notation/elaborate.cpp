#include "spec/notation/elaborate.hpp"

#include <algorithm>

#include "spec/error.hpp"
#include "spec/notation/elaborator.hpp"
#include "spec/notation/lately_instantiated.hpp"
#include "spec/system/recurrence.hpp"

namespace etalon::spec {

namespace notation {

Elaborator::Elaborator(const Definition& d, std::span<const std::optional<ValueType>> operands,
                       std::span<const std::size_t> packs, const Attributes& attributes, std::size_t part)
    : d_(d), part_(part), operands_(operands), typing_(type_call(d, operands, packs, bind_attributes(d, attributes))) {
  if (!typing_.ok()) raise(typing_.diagnosis);
}

void Elaborator::raise(const Diagnosis& diagnosis) const { throw IllTyped(diagnosis); }

Instance Elaborator::run(Proof proof) {
  const Typing typing = typing_;
  do {
    typing_ = typing;
    system_ = {};
    tensors_.clear();
    scalars_.clear();
    extents_.clear();
    sources_.clear();
    clauses_.clear();
    declare_operands();
    declare_run_time_attributes();
    declare_results();
    declare_derivative();
    for (std::size_t c = 0; c < d_.clause_count; ++c) {
      const ClauseText::Form form = d_.clauses[c].form;
      const bool gives = form == ClauseText::Form::equation || form == ClauseText::Form::call;
      if (gives && applies(d_.clauses[c])) equation(d_.clauses[c]);
    }
    check_defined();
  } while (drop_dead());
  order_equations(system_);
  if (proof == Proof::here) prove();
  Instance instance;
  instance.system = std::move(system_);
  instance.results.assign(typing_.results, typing_.results + typing_.result_count);
  instance.attributes = to_attributes(d_, typing_.attributes);
  return instance;
}

// --- tensors ---

/// Names of the rows that a row item ranges over, lets expanded.
std::set<std::string> Elaborator::rows_in(NodeId n) const {
  std::set<std::string> rows;
  if (n < 0) return rows;
  const NodeText& t = d_[n];
  if (t.form == NodeForm::row || t.form == NodeForm::name) {
    const std::string name(d_.at(n));
    for (std::size_t c = 0; c < d_.clause_count; ++c) {
      const ClauseText& clause = d_.clauses[c];
      if (clause.form == ClauseText::Form::let && d_.at(clause.target_row) == name) return rows_in(clause.value);
    }
    const Entry* e = typing_.names.find(name);
    if ((e != nullptr && e->is_row) || d_.attribute_named(name) >= 0) rows.insert(name);
  } else if (t.form == NodeForm::pack_name || t.form == NodeForm::pack_member) {
    rows.emplace(d_.at(n));
  } else if (t.form == NodeForm::join || t.form == NodeForm::row_of) {
    for (NodeId c = t.first; c >= 0; c = d_[c].next) rows.merge(rows_in(c));
  } else if (t.form == NodeForm::builtin) {
    rows = rows_in(t.first);
  }
  return rows;
}

std::vector<AxisGroup> Elaborator::groups_of(const Layout& l) const {
  std::vector<AxisGroup> groups;
  for (std::size_t k = 0; k < l.count; ++k) {
    AxisGroup g;
    g.row = l.items[k].row;
    for (int j = 0; j < l.items[k].width; ++j) g.axes.push_back(l.items[k].axis[j]);
    if (g.row) g.rows = rows_in(l.items[k].node);
    groups.push_back(std::move(g));
  }
  return groups;
}

void Elaborator::declare_operands() {
  for (std::size_t i = 0; i < d_.operand_count; ++i) {
    const OperandText& o = d_.operands[i];
    const std::string name(d_.at(o.name));
    for (std::size_t m = 0; m < typing_.members[i]; ++m) {
      const std::size_t slot = typing_.first_slot[i] + m;
      Storage s;
      s.present = slot < operands_.size() && operands_[slot].has_value();
      if (s.present) {
        const ValueType& type = *operands_[slot];
        s.dims = type.dims;
        s.id = system_.add_tensor(o.pack ? name + "#" + std::to_string(m) : name, type.dtype, type.dims);
        system_.inputs.push_back(s.id);
        s.groups = groups_of(Typer(d_, typing_).operand_layout(i, o.pack ? static_cast<int>(m) : -1, type.dims));
      }
      tensors_[{name, o.pack ? static_cast<int>(m) : -1}] = std::move(s);
    }
  }
}

void Elaborator::declare_run_time_attributes() {
  std::set<std::string> names;
  for (std::size_t a = 0; a < d_.attribute_count; ++a) {
    if (typing_.attributes.of[a].form == AttributeBinding::Form::runtime) names.emplace(d_.at(d_.attributes[a].name));
  }
  for (const std::string& name : names) {
    scalars_[name] = system_.add_tensor(name, local_type(Kind::real), {});
    system_.inputs.push_back(scalars_[name]);
  }
}

void Elaborator::declare_results() {
  std::size_t next = 0;
  for (std::size_t r = 0; r < d_.result_count; ++r) {
    const OperandText& text = d_.results[r];
    const std::string name(d_.at(text.name));
    for (int m = 0; next < typing_.result_count; ++m) {
      const ValueType& type = typing_.results[next++];
      Storage s;
      s.dims = type.dims;
      s.id = system_.add_tensor(text.pack ? name + "#" + std::to_string(m) : name, type.dtype, type.dims);
      system_.outputs.push_back(s.id);
      Dims dims;
      s.groups = groups_of(Typer(d_, typing_).result_layout(r, text.pack ? m : -1, dims));
      tensors_[{name, text.pack ? m : -1}] = std::move(s);
      if (!text.pack) break;
    }
  }
}

/// Whether the clause counts here: those of the definition and of this part, except that a part which gives a tensor by
/// its own equations gives all of it.
bool Elaborator::applies(const ClauseText& clause) const {
  const std::string target(d_.at(clause.target));
  if (clause.part == part_) {
    // What is absent, or no real, has neither tangent nor cotangent.
    const auto s = tensors_.find({target, clause.tag >= 0 ? 0 : -1});
    return !lexer::is_mark(target.back()) || (s != tensors_.end() && s->second.present);
  }
  if (clause.part != 0) return false;
  for (std::size_t c = 0; c < d_.clause_count; ++c) {
    if (d_.clauses[c].part == part_ && d_.at(d_.clauses[c].target) == target) return false;
  }
  return true;
}

/// Tangents and cotangents are given for what a part that states a derivative starts from, and asked for the others.
void Elaborator::declare_derivative() {
  if (part_ == 0 || d_.parts[part_ - 1] == PartForm::also) return;
  const bool reverse = d_.parts[part_ - 1] == PartForm::vjp;
  const char mark = reverse ? '~' : '\'';
  std::vector<TensorId> of_operands;
  std::vector<TensorId> of_results;
  for (std::size_t i = 0; i < d_.operand_count; ++i) {
    for (std::size_t m = 0; m < typing_.members[i]; ++m)
      declare_marked({std::string(d_.at(d_.operands[i].name)), d_.operands[i].pack ? static_cast<int>(m) : -1}, mark, of_operands);
  }
  for (std::size_t r = 0; r < d_.result_count; ++r) {
    const std::string name(d_.at(d_.results[r].name));
    if (!d_.results[r].pack) declare_marked({name, -1}, mark, of_results);
    for (int m = 0; tensors_.contains({name, m}); ++m) declare_marked({name, m}, mark, of_results);
  }
  const auto& given = reverse ? of_results : of_operands;
  const auto& asked = reverse ? of_operands : of_results;
  system_.inputs.insert(system_.inputs.end(), given.begin(), given.end());
  system_.outputs.insert(system_.outputs.end(), asked.begin(), asked.end());
}

/// `x~` or `x'` with the type of x, where x is real and there.
void Elaborator::declare_marked(const std::pair<std::string, int>& of, char mark, std::vector<TensorId>& to) {
  Storage s = tensors_.at(of);
  if (s.present && kind_of(system_[s.id].dtype) != Kind::real) return;
  if (s.present) {
    s.id = system_.add_tensor(system_[s.id].name + mark, system_[s.id].dtype, s.dims);
    to.push_back(s.id);
  }
  tensors_[{of.first + mark, of.second}] = std::move(s);
}

/// Locals hold reals in the operation's own type, halves in f32: they are arithmetic, not storage.
DType Elaborator::local_type(Kind kind) const {
  if (kind == Kind::integer) return DType::i64;
  if (kind == Kind::boolean) return DType::boolean;
  std::optional<DType> type;
  if (typing_.common && kind_of(*typing_.common) == Kind::real) type = typing_.common;
  for (std::size_t r = 0; !type && r < typing_.result_count; ++r) {
    if (kind_of(typing_.results[r].dtype) == Kind::real) type = typing_.results[r].dtype;
  }
  if (!type || *type == DType::f16 || *type == DType::bf16) return DType::f32;
  return *type;
}

// --- the whole ---

/// Every result with elements has an equation; one without gets an empty one.
void Elaborator::check_defined() const {
  for (const TensorId id : system_.outputs) {
    const bool any = std::any_of(system_.equations.begin(), system_.equations.end(),
                                 [&](const Equation& e) { return e.target == id; });
    if (!any && system_[id].dims.count() > 0) fail(0, system_[id].name, " has no equation");
  }
}

/// Finds locals that no result needs; true when there are some that a new run should leave out.
bool Elaborator::drop_dead() {
  std::set<TensorId> needed(system_.outputs.begin(), system_.outputs.end());
  for (std::size_t before = 0; before != needed.size();) {  // a recurrence reads what stands after it
    before = needed.size();
    for (std::size_t i = system_.equations.size(); i-- > 0;) {
      const Equation& e = system_.equations[i];
      if (!needed.contains(e.target)) continue;
      for_each(e.value, [&](const Expr& x) {
        if (x.form() == Form::read) needed.insert(x->tensor);
      });
    }
  }
  bool found = false;
  // A reduction over nothing reads nothing, and yet its range is read off a local.
  const bool empty = std::any_of(system_.tensors.begin(), system_.tensors.end(),
                                 [](const TensorInfo& t) { return t.dims.count() == 0; });
  for (const Equation& e : system_.equations) {
    if (empty) break;
    if (!needed.contains(e.target)) found = dead_.insert(system_[e.target].name).second || found;
  }
  if (found) return true;
  for (const TensorId id : system_.outputs) {
    if (system_[id].dims.count() > 0) continue;
    const Kind kind = kind_of(system_[id].dtype);
    const Expr zero = kind == Kind::real ? decimal(0) : kind == Kind::integer ? integer(0) : boolean(false);
    system_.define(id, system_.bind_all(id), zero);
  }
  return false;
}

}  // namespace notation

Instance instantiate(const Definition& definition, std::span<const std::optional<ValueType>> operands,
                     std::span<const std::size_t> packs, const Attributes& attributes) {
  return instantiate_part(definition, 0, operands, packs, attributes);
}

Instance instantiate_part(const Definition& definition, std::size_t part,
                          std::span<const std::optional<ValueType>> operands, std::span<const std::size_t> packs,
                          const Attributes& attributes) {
  thread_local notation::LatelyInstantiated lately;
  std::string key = notation::key_of(definition, part, operands, packs, attributes);
  if (const Instance* kept = lately.find(key)) return *kept;
  Instance instance = notation::Elaborator(definition, operands, packs, attributes, part).run(notation::Proof::here);
  lately.keep(std::move(key), instance);
  return instance;
}

Instance elaborate(const Definition& definition, std::span<const std::optional<ValueType>> operands) {
  return notation::Elaborator(definition, operands, {}, {}, 0).run(notation::Proof::elsewhere);
}

}  // namespace etalon::spec
