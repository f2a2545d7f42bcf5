#include <algorithm>

#include "spec/notation/elaborator.hpp"

namespace etalon::spec::notation {

const Storage& Elaborator::storage(NodeId read) const {
  int member = -1;
  if (d_[read].form == NodeForm::read && d_[read].op == 1) {
    const auto tag = tags_.find(std::string(d_.at(d_[read].first)));
    if (tag == tags_.end()) fail_at(read, d_.at(d_[read].first), " is not a member's number here");
    member = tag->second;
  }
  const auto found = tensors_.find({std::string(d_.at(read)), member});
  if (found == tensors_.end()) {
    if (tensors_.contains({std::string(d_.at(read)), 0})) fail_at(read, d_.at(read), " is a pack; write ", d_.at(read), "#t");
    fail_at(read, d_.at(read), " is not a tensor that stands before this equation");
  }
  return found->second;
}

/// A read; an absent tensor, or an index out of range, gives `otherwise` where there is one.
Expr Elaborator::read(NodeId n, NodeId otherwise) {
  const Storage& from = storage(n);
  if (!from.present) {
    if (otherwise < 0) fail_at(n, d_.at(n), " is absent, and its read has no else");
    return expression(otherwise);
  }
  const auto [value, inside] = access(n, from);
  if (otherwise < 0) return value;
  const std::optional<bool> decided = truth_constant(inside);
  if (decided && *decided) return value;
  auto [a, b] = branches(n, value, expression(otherwise));
  return chosen(inside, a, b);
}

/// The read, and the condition that all its indices are in range.
std::pair<Expr, Expr> Elaborator::access(NodeId n, const Storage& from) {
  const Layout l = read_layout(n, from);
  std::vector<Expr> indices(from.dims.rank);
  const bool alike = l.count == from.groups.size();
  for (std::size_t k = 0; k < l.count; ++k) {
    const Layout::Item& item = l.items[k];
    std::vector<Expr> at;
    if (!item.row) at.push_back(expression(item.node));
    else if (alike && from.groups[k].row && from.groups[k].axes.size() == static_cast<std::size_t>(item.width)) {
      at = project(item.node, from.groups[k], from);
    } else {
      at = row(item.node);
    }
    for (int j = 0; j < item.width; ++j) {
      Expr& e = at[static_cast<std::size_t>(j)];
      if (e.kind() != Kind::integer) fail_at(item.node, d_.at(item.node), " is an index but not an integer");
      indices[item.axis[j]] = std::move(e);
    }
  }
  Expr inside = boolean(true);
  for (std::size_t a = 0; a < indices.size(); ++a) {
    inside = folded(Primitive::logical_and, {inside, in_range(indices[a], from.dims[a], extents_)});
  }
  Expr value = system_.at(from.id, std::move(indices));
  sources_.emplace_back(value, n);
  return {std::move(value), inside};
}

/// Items that stand one to one with the declared ones take their axes; otherwise widths decide.
Layout Elaborator::read_layout(NodeId n, const Storage& from) {
  const NodeId first = d_[n].form == NodeForm::read ? first_item(n) : NodeId{-1};
  Layout l = layout_of(d_, first);
  bool alike = l.count == from.groups.size();
  for (std::size_t k = 0; alike && k < l.count; ++k) alike = l.items[k].row == from.groups[k].row;
  std::size_t rank = 0;
  for (std::size_t k = 0; k < l.count; ++k) {
    Layout::Item& item = l.items[k];
    if (alike) {
      item.width = static_cast<std::int8_t>(from.groups[k].axes.size());
      for (std::size_t j = 0; j < from.groups[k].axes.size(); ++j) {
        item.axis[j] = static_cast<std::uint8_t>(from.groups[k].axes[j]);
      }
    } else if (item.row) {
      item.width = static_cast<std::int8_t>(row(item.node).size());
    }
    rank += static_cast<std::size_t>(item.width);
  }
  if (rank != from.dims.rank) {
    fail_at(n, d_.at(n), " is read with ", static_cast<std::int64_t>(rank), " indices, it has rank ",
            static_cast<std::int64_t>(from.dims.rank));
  }
  if (alike) return l;
  Diagnosis diagnosis;
  assign_axes(d_, d_.at(n), from.dims.rank, l, typing_.attributes, diagnosis);
  if (!diagnosis.ok()) raise(diagnosis);
  return l;
}

/// An index row over joined rows reads each of them with its last indices, and 0 where the row has extent 1.
std::vector<Expr> Elaborator::project(NodeId n, const AxisGroup& group, const Storage& from) {
  const auto index = d_[n].form == NodeForm::row ? scope_.find(std::string(d_.at(n))) : scope_.end();
  std::vector<Expr> at = row(n);
  const std::size_t width = group.axes.size();
  if (index == scope_.end() || !index->second.row) {
    if (at.size() != width) fail_at(n, d_.at(n), " has another rank than the row it stands for");
    return at;
  }
  const std::set<std::string>& over = index->second.rows;
  const bool joined = over.size() > 1 && std::includes(over.begin(), over.end(), group.rows.begin(), group.rows.end()) &&
                      !group.rows.empty();
  if (!joined) {
    if (at.size() != width) fail_at(n, d_.at(n), " ranges over another row than the one it stands for");
    return at;
  }
  if (at.size() < width) fail_at(n, d_.at(n), " ranges over another row than the one it stands for");
  at.erase(at.begin(), at.end() - static_cast<std::ptrdiff_t>(width));
  for (std::size_t j = 0; j < width; ++j) {
    const Binder& b = index->second.binders[index->second.binders.size() - width + j];
    if (from.dims[group.axes[j]] == 1 && b.extent != 1) at[j] = integer(0);
  }
  return at;
}

// --- reductions ---

Expr Elaborator::reduction(NodeId n, NodeId otherwise) {
  const auto r = static_cast<Reduction>(d_[n].op);
  std::vector<NodeId> binders;
  NodeId c = d_[n].first;
  for (; c >= 0 && d_[c].form == NodeForm::binder; c = d_[c].next) binders.push_back(c);
  std::set<std::string> tags = tags_in(c);
  if (d_[n].flag) tags.merge(tags_in(d_[c].next));
  for (const NodeId b : binders) {
    const std::string name(d_.at(d_[b].first));
    if (!tags.contains(name)) continue;
    if (binders.size() > 1 || d_[n].flag) fail_at(n, "a reduction over members has one index and no guard");
    return reduce_members(n, name, r);
  }
  std::vector<NodeId> roots{c};
  if (d_[n].flag) roots.push_back(d_[c].next);
  std::vector<Binder> bound;
  std::vector<std::string> names;
  for (const NodeId b : binders) {
    Index& index = bind_binder(b, roots);
    bound.insert(bound.end(), index.binders.begin(), index.binders.end());
    names.emplace_back(d_.at(d_[b].first));
  }
  Expr e = reduce_bound(n, r, bound, otherwise);
  for (const std::string& name : names) scope_.erase(name);
  return e;
}

Expr Elaborator::reduce_bound(NodeId n, Reduction r, const std::vector<Binder>& binders, NodeId otherwise) {
  NodeId c = d_[n].first;
  while (d_[c].form == NodeForm::binder) c = d_[c].next;
  const bool empty = std::any_of(binders.begin(), binders.end(), [](const Binder& b) { return b.extent == 0; });
  const bool was_vacuous = vacuous_;
  vacuous_ = vacuous_ || empty;
  const Expr guard = d_[n].flag ? expression(c) : boolean(true);
  if (guard.kind() != Kind::boolean) fail_at(c, d_.at(c), " is not a condition");
  const NodeId body_node = d_[n].flag ? d_[c].next : c;
  const Expr body = expression(body_node);
  vacuous_ = was_vacuous;
  const bool logical = r == Reduction::any || r == Reduction::all;
  if ((body.kind() == Kind::boolean) != logical) {
    fail_at(body_node, spec::name_of(r), " of ", logical ? "something that is not a truth value" : "a truth value");
  }
  const std::optional<bool> decided = truth_constant(guard);
  if (empty || (decided && !*decided)) return neutral(n, r, body.kind(), otherwise);
  const bool position = r == Reduction::argmax || r == Reduction::argmin;
  const bool extremum = position || r == Reduction::max || r == Reduction::min;
  if (binders.empty()) {
    const Expr value = position ? integer(0) : body;
    if (decided) return value;
    auto [a, b] = same_kind(n, value, neutral(n, r, body.kind(), otherwise));
    return select(guard, a, b);
  }
  if (!extremum || otherwise < 0) {
    Expr e = reduce(r, binders, guard, body);
    if (extremum) sources_.emplace_back(e, n);
    return e;
  }
  if (decided) return reduce(r, binders, guard, body);  // not empty, so `else` is never reached
  Expr v = expression(otherwise);
  const Kind kind = position ? Kind::integer : body.kind();
  if (kind == Kind::real) v = real_of(v);
  if (v.kind() != kind) fail_at(otherwise, d_.at(otherwise), " has another kind than the reduction");
  return reduce(r, binders, guard, body, v);
}

/// The value over an empty set.
Expr Elaborator::neutral(NodeId n, Reduction r, Kind kind, NodeId otherwise) {
  switch (r) {
    case Reduction::sum: return kind == Kind::real ? decimal(0) : integer(0);
    case Reduction::prod: return kind == Kind::real ? decimal(1) : integer(1);
    case Reduction::any: return boolean(false);
    case Reduction::all: return boolean(true);
    default: break;
  }
  const bool position = r == Reduction::argmax || r == Reduction::argmin;
  if (otherwise >= 0) {
    const Expr v = expression(otherwise);
    return !position && kind == Kind::real ? real_of(v) : v;
  }
  if (!vacuous_) fail_at(n, spec::name_of(r), " is over an empty set and has no else");
  return !position && kind == Kind::real ? decimal(0) : integer(0);
}

/// A reduction over the members of a pack, written out.
Expr Elaborator::reduce_members(NodeId n, const std::string& tag, Reduction r) {
  const NodeId body = d_.child(n, 1);
  std::int64_t members = 0;
  for (std::size_t i = 0; i < d_.operand_count; ++i) {
    if (d_.operands[i].pack) members = static_cast<std::int64_t>(typing_.members[i]);
  }
  Expr total;
  for (std::int64_t m = 0; m < members; ++m) {
    tags_[tag] = static_cast<int>(m);
    const Expr e = expression(body);
    if (!total.valid()) {
      total = e;
      continue;
    }
    switch (r) {
      case Reduction::sum: total = combine(n, Primitive::add, {total, e}); break;
      case Reduction::prod: total = combine(n, Primitive::mul, {total, e}); break;
      case Reduction::any: total = combine(n, Primitive::logical_or, {total, e}); break;
      case Reduction::all: total = combine(n, Primitive::logical_and, {total, e}); break;
      case Reduction::max: total = chosen(combine(n, Primitive::lt, {total, e}), e, total); break;
      case Reduction::min: total = chosen(combine(n, Primitive::lt, {e, total}), e, total); break;
      default: fail_at(n, spec::name_of(r), " over members is not in the notation");
    }
  }
  tags_.erase(tag);
  return total.valid() ? total : neutral(n, r, Kind::real, -1);
}

}  // namespace etalon::spec::notation
