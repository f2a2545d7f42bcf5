#include "spec/notation/elaborator.hpp"

namespace etalon::spec::notation {

void Elaborator::check_hiding(const std::string& name, NodeId where) const {
  if (name == "...") return;
  const char* what = nullptr;
  if (typing_.names.find(name) != nullptr) what = typing_.names.find(name)->is_row ? "a row" : "an extent";
  if (d_.attribute_named(name) >= 0) what = "an attribute";
  if (tensors_.contains({name, -1}) || tensors_.contains({name, 0})) what = "a tensor";
  if (scope_.contains(name)) what = "another index";
  if (what != nullptr) fail_at(where, "index ", name, " hides ", what);
}

Index& Elaborator::bind_index(const std::string& name, bool row, const Dims& dims, std::set<std::string> rows,
                              NodeId where) {
  check_hiding(name, where);
  Index index;
  index.row = row;
  index.rows = std::move(rows);
  for (std::size_t i = 0; i < dims.rank; ++i) {
    const std::string own = name == "..." ? "i" : name;
    Binder b = system_.bind(row ? own + std::to_string(i) : own, dims[i]);
    extents_[b.variable] = b.extent;
    index.binders.push_back(std::move(b));
  }
  return scope_[name] = std::move(index);
}

/// Binds `k`, `k < e`, `..k` or `..k < ..e`; what is not stated is inferred from the reads below `roots`.
Index& Elaborator::bind_binder(NodeId binder, const std::vector<NodeId>& roots) {
  const bool wrapped = d_[binder].form == NodeForm::binder;
  const NodeId what = wrapped ? d_[binder].first : binder;
  const NodeId range = wrapped ? d_.child(binder, 1) : NodeId{-1};
  const std::string name(d_.at(what));
  const bool row = d_[what].form == NodeForm::row;
  if (!row && d_[what].form != NodeForm::name) fail_at(what, d_.at(what), " is not a name for an index");
  check_hiding(name, what);
  if (range >= 0) {
    if (row) return bind_index(name, true, known_row(range), rows_in(range), what);
    const std::int64_t extent = known_integer(range);
    if (extent < 0) fail_at(range, "extent ", d_.at(range), " is ", extent);
    return bind_index(name, false, Dims{extent}, {}, what);
  }
  const std::optional<Found> found = infer(name, row, roots);
  if (!found) fail_at(what, "no read gives the range of ", name, "; write ", name, " < extent");
  return bind_index(name, row, found->dims, found->rows, what);
}

std::optional<Found> Elaborator::infer(std::string_view name, bool row, const std::vector<NodeId>& roots) {
  std::optional<Found> found;
  for (const NodeId root : roots) search(root, name, row, true, found);
  return found;
}

bool Elaborator::binds(NodeId reduce, std::string_view name) const {
  for (NodeId c = d_[reduce].first; c >= 0 && d_[c].form == NodeForm::binder; c = d_[c].next) {
    if (d_.at(d_[c].first) == name) return true;
  }
  return false;
}

NodeId Elaborator::first_item(NodeId read) const { return d_[read].op == 1 ? d_[d_[read].first].next : d_[read].first; }

/// Reads that carry `else`, or stand in `inside`, may leave the tensor and give no range.
void Elaborator::search(NodeId n, std::string_view name, bool row, bool counts, std::optional<Found>& found) {
  const NodeText& t = d_[n];
  if (t.form == NodeForm::reduce && binds(n, name)) return;
  if (t.form == NodeForm::read && counts) search_read(n, name, row, found);
  const bool guarded =
      t.form == NodeForm::otherwise || (t.form == NodeForm::builtin && static_cast<Builtin>(t.op) == Builtin::inside);
  if (t.form == NodeForm::select) {
    const std::optional<StaticValue> c = known(t.first);
    if (c && c->form == StaticValue::Form::boolean) {
      search(d_.child(n, c->truth ? 1 : 2), name, row, true, found);
      return;
    }
  }
  for (NodeId c = t.first; c >= 0; c = d_[c].next) {
    const bool is_guarded_read = guarded && c == t.first && d_[c].form == NodeForm::read;
    search(c, name, row, !is_guarded_read, found);
  }
}

void Elaborator::search_read(NodeId n, std::string_view name, bool row, std::optional<Found>& found) {
  int member = -1;
  if (d_[n].op == 1) {
    const auto tag = tags_.find(std::string(d_.at(d_[n].first)));
    if (tag == tags_.end()) return;
    member = tag->second;
  }
  const auto at = tensors_.find({std::string(d_.at(n)), member});
  if (at == tensors_.end() || !at->second.present) return;
  const Storage& from = at->second;
  Layout l = layout_of(d_, first_item(n));
  bool alike = l.count == from.groups.size();
  for (std::size_t k = 0; alike && k < l.count; ++k) alike = l.items[k].row == from.groups[k].row;
  if (!alike) {
    for (std::size_t k = 0; k < l.count; ++k) {
      Layout::Item& item = l.items[k];
      if (!item.row) continue;
      const auto index = scope_.find(std::string(d_.at(item.node)));
      if (item.attribute >= 0) item.width = static_cast<std::int8_t>(typing_.attributes.of[item.attribute].size);
      else if (d_[item.node].form == NodeForm::row && index != scope_.end()) {
        item.width = static_cast<std::int8_t>(index->second.binders.size());
      }
    }
    if (l.unknown() > 1 || l.width() > from.dims.rank) return;
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].width < 0) l.items[k].width = static_cast<std::int8_t>(from.dims.rank - l.width());
    }
    Diagnosis diagnosis;
    assign_axes(d_, d_.at(n), from.dims.rank, l, typing_.attributes, diagnosis);
    if (!diagnosis.ok()) raise(diagnosis);
  }
  for (std::size_t k = 0; k < l.count; ++k) {
    const Layout::Item& item = l.items[k];
    const NodeForm form = d_[item.node].form;
    if (item.row != row || d_.at(item.node) != name || form != (row ? NodeForm::row : NodeForm::name)) continue;
    Found here;
    here.tensor = d_.at(n);
    if (alike) {
      for (const std::size_t a : from.groups[k].axes) here.dims.push_back(from.dims[a]);
      here.rows = from.groups[k].rows;
    } else {
      for (int j = 0; j < item.width; ++j) here.dims.push_back(from.dims[item.axis[j]]);
    }
    if (!found) {
      found = here;
    } else if (!(found->dims == here.dims)) {
      Diagnosis diagnosis = diagnose(d_.name, ": index ", name, " ranges over ");
      add_row(diagnosis, found->dims).add(" in ").add(found->tensor).add(", ");
      add_row(diagnosis, here.dims).add(" in ").add(here.tensor).at(d_.text, d_[item.node].text.begin);
      raise(diagnosis);
    } else if (here.rows.size() > found->rows.size()) {
      found->rows = here.rows;
    }
  }
}

/// Names used as `#t` below a node and not bound by a reduction there.
std::set<std::string> Elaborator::tags_in(NodeId n) const {
  std::set<std::string> tags;
  if (n < 0) return tags;
  const NodeText& t = d_[n];
  if (t.form == NodeForm::pack_member || (t.form == NodeForm::read && t.op == 1)) tags.emplace(d_.at(t.first));
  for (NodeId c = t.first; c >= 0; c = d_[c].next) tags.merge(tags_in(c));
  if (t.form == NodeForm::reduce) {
    for (NodeId c = t.first; c >= 0 && d_[c].form == NodeForm::binder; c = d_[c].next) {
      tags.erase(std::string(d_.at(d_[c].first)));
    }
  }
  return tags;
}

}  // namespace etalon::spec::notation
