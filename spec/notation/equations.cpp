/// \file
/// Equations of one elaboration: left sides become binders and places, right sides values.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/notation/elaborator.hpp"

namespace etalon::spec::notation {

std::int32_t Elaborator::origin_of(const ClauseText& clause) {
  Origin origin;
  origin.operation = std::string(d_.name);
  origin.clause = std::string(d_.at(clause.text));
  system_.origins.push_back(std::move(origin));
  clauses_[static_cast<std::int32_t>(system_.origins.size()) - 1] = clause.text.begin;
  return static_cast<std::int32_t>(system_.origins.size()) - 1;
}

void Elaborator::equation(const ClauseText& clause) {
  if (clause.when >= 0) {
    const std::optional<StaticValue> c = known(clause.when);
    if (!c || c->form != StaticValue::Form::boolean) {
      fail_at(clause.when, d_.at(clause.when), " is not a condition on extents and attributes");
    }
    if (!c->truth) return;
  }
  if (clause.form == ClauseText::Form::call) return call(clause);
  if (dead_.contains(std::string(d_.at(clause.target)))) return;
  std::set<std::string> tags = tags_in(clause.value);
  for (NodeId n = clause.places; n >= 0; n = d_[n].next) tags.merge(tags_in(n));
  if (clause.tag >= 0) tags.emplace(d_.at(clause.tag));
  if (tags.empty()) return equation_of_member(clause, -1);
  if (tags.size() > 1) fail(clause.text.begin, "an equation runs over the members of one pack");
  const std::string tag = *tags.begin();
  check_hiding(tag, clause.value);
  for (int m = 0; tensors_.contains({std::string(d_.at(clause.target)), m}) || members_of_operands(m); ++m) {
    tags_[tag] = m;
    equation_of_member(clause, clause.tag >= 0 ? m : -1);
  }
  tags_.clear();
}

bool Elaborator::members_of_operands(int m) const {
  for (std::size_t i = 0; i < d_.operand_count; ++i) {
    if (d_.operands[i].pack) return m < static_cast<int>(typing_.members[i]);
  }
  return false;
}

void Elaborator::equation_of_member(const ClauseText& clause, int member) {
  const std::int32_t origin = origin_of(clause);
  const std::string name(d_.at(clause.target));
  const auto found = tensors_.find({name, member});
  const bool is_result = found != tensors_.end() && std::count(system_.outputs.begin(), system_.outputs.end(),
                                                               found->second.id) > 0;
  if (found != tensors_.end() && !is_result) fail(clause.target.begin, name, " is defined twice");
  if (is_result) {
    assign(clause, found->second, target_layout(clause, found->second), origin);
  } else {
    if (member >= 0) fail(clause.target.begin, "a local is not a pack");
    define_local(clause, layout_of(d_, clause.places), origin);
  }
  scope_.clear();
  vacuous_ = false;
}

/// The layout of the left side of an equation of a result.
Layout Elaborator::target_layout(const ClauseText& clause, const Storage& target) const {
  Layout l = layout_of(d_, clause.places);
  bool alike = l.count == target.groups.size();
  for (std::size_t k = 0; alike && k < l.count; ++k) alike = l.items[k].row == target.groups[k].row;
  if (alike) {
    for (std::size_t k = 0; k < l.count; ++k) {
      l.items[k].width = static_cast<std::int8_t>(target.groups[k].axes.size());
      for (std::size_t j = 0; j < target.groups[k].axes.size(); ++j) {
        l.items[k].axis[j] = static_cast<std::uint8_t>(target.groups[k].axes[j]);
      }
    }
    return l;
  }
  for (std::size_t k = 0; k < l.count; ++k) {
    Layout::Item& item = l.items[k];
    if (!item.row) continue;
    if (item.attribute >= 0) item.width = static_cast<std::int8_t>(typing_.attributes.of[item.attribute].size);
    else if (d_[item.node].form == NodeForm::binder) {
      item.width = static_cast<std::int8_t>(known_row(d_.child(item.node, 1)).rank);
    }
  }
  if (l.unknown() == 1 && l.width() <= target.dims.rank) {
    const auto rest = static_cast<std::int8_t>(target.dims.rank - l.width());
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].width < 0) l.items[k].width = rest;
    }
  }
  if (l.unknown() > 0 || l.width() != target.dims.rank) {
    fail(clause.target.begin, d_.at(clause.target), " is written with ", static_cast<std::int64_t>(l.width()),
         " indices, it has rank ", static_cast<std::int64_t>(target.dims.rank));
  }
  Bindings bindings = typing_.attributes;
  Diagnosis diagnosis;
  assign_axes(d_, d_.at(clause.target), target.dims.rank, l, bindings, diagnosis);
  if (!diagnosis.ok()) raise(diagnosis);
  return l;
}

/// Binds the names of a left side in order; `dims` are those of a result, nothing for a local.
std::vector<Binder> Elaborator::bind_places(const ClauseText& clause, const Layout& l, const Dims* dims,
                                            const std::vector<AxisGroup>* groups, std::vector<AxisGroup>& made) {
  std::vector<Binder> binders;
  for (std::size_t k = 0; k < l.count; ++k) {
    const Layout::Item& item = l.items[k];
    const NodeForm form = d_[item.node].form;
    AxisGroup group;
    group.row = item.row;
    const bool bare = form == NodeForm::name || form == NodeForm::row;
    const bool own = bare && known_as_index(item.node);
    if (own && dims != nullptr) {
      Dims range;
      for (int j = 0; j < item.width; ++j) range.push_back((*dims)[item.axis[j]]);
      if (groups != nullptr && k < groups->size()) group.rows = (*groups)[k].rows;
      bind_index(std::string(d_.at(item.node)), item.row, range, group.rows, item.node);
    } else if (own || form == NodeForm::binder) {
      group.rows = bind_binder(item.node, {clause.value}).rows;
    } else {
      if (dims == nullptr) fail_at(item.node, "a local's left side has plain indices");
      bind_inner_names(item.node, clause.value, binders);
      made.push_back(std::move(group));
      continue;
    }
    const NodeId name = form == NodeForm::binder ? d_[item.node].first : item.node;
    const Index& index = scope_.at(std::string(d_.at(name)));
    binders.insert(binders.end(), index.binders.begin(), index.binders.end());
    made.push_back(std::move(group));
  }
  return binders;
}

/// Whether a bare name on a left side is an index, and not a number such as a member's.
bool Elaborator::known_as_index(NodeId n) const {
  const std::string name(d_.at(n));
  return name == "..." || !tags_.contains(name);
}

/// Binds the names inside a computed place such as `2*i + 1`.
void Elaborator::bind_inner_names(NodeId n, NodeId value, std::vector<Binder>& binders) {
  const NodeText& t = d_[n];
  const bool bare = t.form == NodeForm::name || t.form == NodeForm::row;
  if (bare && !scope_.contains(std::string(d_.at(n))) && !known(n)) {
    const Index& index = bind_binder(n, {value});
    binders.insert(binders.end(), index.binders.begin(), index.binders.end());
    return;
  }
  if (t.form == NodeForm::pack_member) return;
  for (NodeId c = t.first; c >= 0; c = d_[c].next) bind_inner_names(c, value, binders);
}

/// Whether the call chooses the element type of the result that this equation gives.
bool Elaborator::names_type(const ClauseText& clause) const {
  for (std::size_t r = 0; r < d_.result_count; ++r) {
    if (d_.at(d_.results[r].name) == d_.at(clause.target)) return d_.results[r].range == Range::attribute;
  }
  return false;
}

/// The right side, for an element of that type or as it is; an equation without elements is elaborated for its kind only.
Expr Elaborator::value_of(const ClauseText& clause, std::optional<DType> dtype) {
  Expr e = expression(clause.value);
  const Kind kind = dtype ? kind_of(*dtype) : e.kind();
  if (vacuous_) return kind == Kind::real ? decimal(0) : kind == Kind::integer ? integer(0) : boolean(false);
  if (e.kind() == kind) return e;
  if (kind == Kind::real && e.kind() == Kind::integer) return real_of(e);
  if (names_type(clause)) return converted(e, *dtype);
  fail(clause.text.begin, d_.at(clause.target), " is ", kind == Kind::real ? "real" : kind == Kind::integer ? "integer" : "a truth value",
       ", its equation gives ", e.kind() == Kind::real ? "a real" : e.kind() == Kind::integer ? "an integer" : "a truth value",
       "; use cast");
}

void Elaborator::assign(const ClauseText& clause, Storage& target, const Layout& l, std::int32_t origin) {
  std::vector<AxisGroup> made;
  Equation e;
  e.target = target.id;
  e.origin = origin;
  e.binders = bind_places(clause, l, &target.dims, &target.groups, made);
  if (std::any_of(e.binders.begin(), e.binders.end(), [](const Binder& b) { return b.extent == 0; })) return;
  e.place.resize(target.dims.rank);
  for (std::size_t k = 0; k < l.count; ++k) {
    const Layout::Item& item = l.items[k];
    const NodeId n = d_[item.node].form == NodeForm::binder ? d_[item.node].first : item.node;
    std::vector<Expr> at;
    if (item.row) at = row(n);
    else at.push_back(expression(n));
    if (at.size() != static_cast<std::size_t>(item.width)) fail_at(n, d_.at(n), " has another rank than its place");
    for (int j = 0; j < item.width; ++j) e.place[item.axis[j]] = at[static_cast<std::size_t>(j)];
  }
  e.value = value_of(clause, system_[target.id].dtype);
  system_.equations.push_back(std::move(e));
}

void Elaborator::define_local(const ClauseText& clause, const Layout& items, std::int32_t origin) {
  std::vector<AxisGroup> groups;
  std::vector<Binder> binders = bind_places(clause, items, nullptr, nullptr, groups);
  Layout l = items;
  std::size_t rank = 0;
  for (std::size_t k = 0; k < l.count; ++k) {
    const NodeId n = d_[l.items[k].node].form == NodeForm::binder ? d_[l.items[k].node].first : l.items[k].node;
    l.items[k].width = static_cast<std::int8_t>(scope_.at(std::string(d_.at(n))).binders.size());
    rank += static_cast<std::size_t>(l.items[k].width);
  }
  if (rank > Dims::max_rank) fail(clause.target.begin, d_.at(clause.target), " has more than 8 axes");
  Diagnosis diagnosis;
  assign_axes(d_, d_.at(clause.target), rank, l, typing_.attributes, diagnosis);
  if (!diagnosis.ok()) raise(diagnosis);
  Storage s;
  s.dims.rank = rank;
  std::vector<Binder> ordered(rank);
  std::size_t next = 0;
  for (std::size_t k = 0; k < l.count; ++k) {
    for (int j = 0; j < l.items[k].width; ++j) {
      const std::size_t axis = l.items[k].axis[j];
      ordered[axis] = binders[next++];
      s.dims[axis] = ordered[axis].extent;
      groups[k].axes.push_back(axis);
    }
  }
  if (!addressable({DType::f64, s.dims})) fail(clause.target.begin, d_.at(clause.target), " has more elements than 64 bits can address");
  vacuous_ = s.dims.count() == 0;
  s.groups = std::move(groups);
  const std::string name(d_.at(clause.target));
  if (reads(clause.value, name)) {  // a recurrence, of reals
    s.id = system_.add_tensor(name, local_type(Kind::real), s.dims);
    tensors_[{name, -1}] = s;
    system_.define(s.id, std::move(ordered), value_of(clause, local_type(Kind::real)), origin);
    return;
  }
  Expr value = value_of(clause, std::nullopt);
  s.id = system_.add_tensor(name, local_type(value.kind()), s.dims);
  system_.define(s.id, std::move(ordered), std::move(value), origin);
  tensors_[{name, -1}] = std::move(s);
}

/// Whether a tensor of that name is read below a node.
bool Elaborator::reads(NodeId n, std::string_view name) const {
  const bool here = d_[n].form == NodeForm::read || d_[n].form == NodeForm::name;
  if (here && d_.at(n) == name) return true;
  for (NodeId c = d_[n].first; c >= 0; c = d_[c].next) {
    if (reads(c, name)) return true;
  }
  return false;
}

}  // namespace etalon::spec::notation
