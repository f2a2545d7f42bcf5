/// \file
/// Evaluates the expressions that are known once extents and attributes are, at compile time and at run time.
#pragma once

#include <cstdint>
#include <string_view>

#include "spec/dims.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/names.hpp"
#include "spec/notation/static_arithmetic.hpp"
#include "spec/notation/static_value.hpp"

namespace etalon::spec::notation {

/// Evaluates static expressions. An `unknown` without a diagnosis means: not static (a read, an index, a value known
/// only at run time).
class StaticEvaluator : StaticArithmetic {
 public:
  constexpr StaticEvaluator(const Definition& d, const Names& names, const Bindings& bindings, Diagnosis& diagnosis)
      : StaticArithmetic(d, diagnosis), names_(names), bindings_(bindings) {}

  /// Within these, `tag` stands for the member and its number.
  constexpr void set_member(std::string_view tag, int member) {
    tag_ = tag;
    member_ = member;
  }

  [[nodiscard]] constexpr StaticValue evaluate(NodeId n) const {
    if (n < 0 || !diagnosis_.ok()) return {};
    const NodeText& t = d_[n];
    switch (t.form) {
      case NodeForm::number: return number(n);
      case NodeForm::truth: return StaticValue::of_truth(t.op != 0);
      case NodeForm::name:
      case NodeForm::row: return named(n);
      case NodeForm::row_of: return row_of(n);
      case NodeForm::pack_member: return member(n);
      case NodeForm::apply: return apply(n);
      case NodeForm::join: return join(n);
      case NodeForm::builtin: return builtin(n);
      case NodeForm::select: {
        const StaticValue c = evaluate(t.first);
        if (c.form != Form::boolean) return {};
        return evaluate(d_.child(n, c.truth ? 1 : 2));
      }
      default: return {};
    }
  }

  /// An integer, or false with a diagnosis.
  [[nodiscard]] constexpr bool integer(NodeId n, std::int64_t& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::integer) {
      value = v.integer;
      return true;
    }
    return fail(n, " is not an integer known from extents and attributes");
  }
  /// A truth value, or false with a diagnosis.
  [[nodiscard]] constexpr bool truth(NodeId n, bool& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::boolean) {
      value = v.truth;
      return true;
    }
    return fail(n, " is not a condition on extents and attributes");
  }
  /// A row of integers, or false with a diagnosis.
  [[nodiscard]] constexpr bool row(NodeId n, Dims& value) const {
    const StaticValue v = evaluate(n);
    if (v.form == Form::row) {
      value = v.row;
      return true;
    }
    return fail(n, " is not a row known from extents and attributes");
  }

 private:

  constexpr StaticValue number(NodeId n) const {
    const std::string_view text = d_.at(n);
    if (!lexer::is_whole(text)) return StaticValue::of_real(binary64_of(text));
    std::int64_t value = 0;
    if (!lexer::integer_of(text, value)) {
      fail(n, " does not fit 64 bits");
      return {};
    }
    return StaticValue::of(value);
  }

  constexpr StaticValue named(NodeId n) const {
    const std::string_view name = d_.at(n);
    if (name == tag_) return StaticValue::of(member_);
    if (const Entry* e = names_.find(name)) {
      if (e->known && !e->is_row) return StaticValue::of(e->value[0]);
      if (e->known) return StaticValue::of_row(e->value);
    }
    const int a = d_.attribute_named(name);
    if (a >= 0) return attribute(a);
    StaticValue v;
    if (d_[n].form == NodeForm::name && is_symbol(name)) {
      v.form = Form::symbol;
      v.symbol = name;
    }
    return v;
  }

  /// Whether some attribute may have this symbol as its value.
  constexpr bool is_symbol(std::string_view name) const {
    if (dtype_named(name)) return true;
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      if (d_.attributes[i].kind == AttributeKind::symbol && is_choice(d_.at(d_.attributes[i].choices), name)) return true;
    }
    return false;
  }

  constexpr StaticValue attribute(int which) const {
    const AttributeText& text = d_.attributes[which];
    const AttributeBinding& b = bindings_.of[which];
    switch (b.form) {
      case AttributeBinding::Form::integer:
        if (text.row.length > 0) return broadcast(text, b.integer);
        return StaticValue::of(b.integer);
      case AttributeBinding::Form::real: return StaticValue::of_real(b.real);
      case AttributeBinding::Form::boolean: return StaticValue::of_truth(b.truth);
      case AttributeBinding::Form::symbol: {
        StaticValue v;
        v.form = Form::symbol;
        v.symbol = b.symbol;
        return v;
      }
      case AttributeBinding::Form::list: {
        if (b.size > Dims::max_rank) return {};
        Dims row;
        for (std::size_t i = 0; i < b.size; ++i) row.push_back(b.list[i]);
        return StaticValue::of_row(row);
      }
      default: return {};
    }
  }

  /// One number given for a list stands for every axis of its row.
  constexpr StaticValue broadcast(const AttributeText& text, std::int64_t value) const {
    const Entry* e = names_.find(d_.at(text.row));
    if (e == nullptr || e->rank < 0) return {};
    Dims row;
    for (int i = 0; i < e->rank; ++i) row.push_back(value);
    return StaticValue::of_row(row);
  }

  constexpr StaticValue row_of(NodeId n) const {
    const StaticValue v = evaluate(d_[n].first);
    if (v.form == Form::row || v.form == Form::unknown) return v;
    fail(n, " is not a row");
    return {};
  }

  constexpr int tag_member(NodeId n) const {
    return d_[n].first >= 0 && d_.at(d_[n].first) == tag_ ? member_ : -1;
  }

  constexpr StaticValue member(NodeId n) const {
    const int m = tag_member(n);
    if (m < 0) return {};
    if (const Entry* e = names_.find(d_.at(n), m)) {
      if (!e->known) return {};
      return e->is_row ? StaticValue::of_row(e->value) : StaticValue::of(e->value[0]);
    }
    const int a = d_.attribute_named(d_.at(n));
    if (a < 0 || m >= bindings_.of[a].size) return {};
    return StaticValue::of(bindings_.of[a].list[m]);
  }

  constexpr StaticValue apply(NodeId n) const {
    const NodeText& t = d_[n];
    const auto p = static_cast<Primitive>(t.op);
    const StaticValue a = evaluate(t.first);
    if (p == Primitive::logical_and && a.form == Form::boolean && !a.truth) return a;
    if (p == Primitive::logical_or && a.form == Form::boolean && a.truth) return a;
    if (info(p).arity == 1) return a.form == Form::unknown ? a : elementwise(n, p, a, a);
    if (info(p).arity != 2) return {};
    const StaticValue b = evaluate(d_.child(n, 1));
    if (a.form == Form::unknown || b.form == Form::unknown) return {};
    return elementwise(n, p, a, b);
  }

  // --- rows and packs ---

  constexpr StaticValue join(NodeId n) const {
    const NodeId left = d_[n].first;
    const NodeId right = d_.child(n, 1);
    const StaticValue p = evaluate(left);
    const StaticValue q = evaluate(right);
    if (p.form == Form::unknown || q.form == Form::unknown) return {};
    Dims joined;
    if (p.form != Form::row || q.form != Form::row || !join_rows(p.row, q.row, joined)) {
      if (!diagnosis_.ok()) return {};
      diagnosis_ = diagnose(d_.name, ": ", d_.at(left), " is ");
      add_row(diagnosis_, p.row).add(" and ").add(d_.at(right)).add(" is ");
      add_row(diagnosis_, q.row).add(", which do not join").at(d_.text, d_[n].text.begin);
      return {};
    }
    return StaticValue::of_row(joined);
  }

  constexpr StaticValue builtin(NodeId n) const {
    const NodeId arg = d_[n].first;
    switch (static_cast<Builtin>(d_[n].op)) {
      case Builtin::size: {
        const StaticValue v = evaluate(arg);
        if (v.form != Form::row) return {};
        return size(n, v.row);
      }
      case Builtin::rank: {
        const StaticValue v = evaluate(arg);
        if (v.form != Form::row) return {};
        return StaticValue::of(static_cast<std::int64_t>(v.row.rank));
      }
      case Builtin::part: return part(n, arg);
      case Builtin::completed: return completed(n, arg);
      case Builtin::keep:
      case Builtin::only: return chosen(n, arg, static_cast<Builtin>(d_[n].op) == Builtin::keep);
      case Builtin::before: return pack_sum(arg, tag_member(arg));
      case Builtin::total: return pack_sum(arg, static_cast<int>(Names::capacity));
      case Builtin::count: return pack_count(arg);
      default: return {};
    }
  }

  /// `part(..r, a, b)`: the axes a to b - 1 that the row has.
  constexpr StaticValue part(NodeId n, NodeId arg) const {
    const StaticValue r = evaluate(arg);
    const StaticValue a = evaluate(d_.child(n, 1));
    const StaticValue b = evaluate(d_.child(n, 2));
    if (r.form != Form::row || a.form != Form::integer || b.form != Form::integer) return {};
    Dims row;
    for (std::size_t i = 0; i < r.row.rank; ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      if (axis >= a.integer && axis < b.integer) row.push_back(r.row[i]);
    }
    return StaticValue::of_row(row);
  }

  /// `completed(..r, n)`: the row, its -1 replaced by the extent that makes its size n.
  constexpr StaticValue completed(NodeId n, NodeId arg) const {
    StaticValue r = evaluate(arg);
    const StaticValue wanted = evaluate(d_.child(n, 1));
    if (r.form != Form::row || wanted.form != Form::integer) return {};
    std::size_t open = r.row.rank;
    Dims others;
    for (std::size_t i = 0; i < r.row.rank; ++i) {
      if (r.row[i] != -1) {
        others.push_back(r.row[i]);
      } else if (open == r.row.rank) {
        open = i;
      } else {
        return incomplete(arg, r.row, ", at most one of them may be -1");
      }
    }
    if (open == r.row.rank) return r;
    const StaticValue known = size(n, others);
    if (known.form != Form::integer) return {};
    if (known.integer <= 0 || wanted.integer % known.integer != 0) {
      return incomplete(arg, r.row, ", which has no one extent for its -1 where the size is ", wanted.integer);
    }
    r.row[open] = wanted.integer / known.integer;
    return r;
  }

  template <class... Parts>
  constexpr StaticValue incomplete(NodeId arg, const Dims& row, const Parts&... why) const {
    if (!diagnosis_.ok()) return {};
    diagnosis_ = diagnose(d_.name, ": ", d_.at(arg), " is ");
    add_row(diagnosis_, row);
    (diagnosis_.add(why), ...);
    diagnosis_.at(d_.text, d_[arg].text.begin);
    return {};
  }

  /// `keep(..r, c)`: ones for r where c, otherwise no axes. `only(..r, c)`: r where c, otherwise no axes.
  constexpr StaticValue chosen(NodeId n, NodeId arg, bool ones) const {
    const StaticValue c = evaluate(d_.child(n, 1));
    if (c.form != Form::boolean) return {};
    StaticValue r = evaluate(arg);  // rows that do not join are ill-typed whether they are chosen or not
    if (!c.truth) return StaticValue::of_row({});
    if (r.form == Form::integer) r = StaticValue::of_row(Dims{r.integer});
    if (r.form != Form::row) return {};
    if (ones) {
      for (std::size_t i = 0; i < r.row.rank; ++i) r.row[i] = 1;
    }
    return r;
  }

  constexpr StaticValue pack_sum(NodeId arg, int end) const {
    if (end < 0 || arg < 0) return {};
    std::int64_t sum = 0;
    for (int m = 0; m < end; ++m) {
      const Entry* e = names_.find(d_.at(arg), m);
      if (e == nullptr || !e->known) {
        const int a = d_.attribute_named(d_.at(arg));
        if (a < 0) break;
        if (m >= bindings_.of[a].size) break;
      }
      const std::int64_t one = e != nullptr && e->known ? e->value[0] : bindings_.of[d_.attribute_named(d_.at(arg))].list[m];
      if (__builtin_add_overflow(sum, one, &sum)) {
        fail(arg, ", summed, does not fit 64 bits");
        return {};
      }
    }
    return StaticValue::of(sum);
  }

  constexpr StaticValue pack_count(NodeId arg) const {
    const Entry* e = names_.find(d_.at(arg), -2);
    if (e != nullptr) return StaticValue::of(e->value[0]);
    const int a = d_.attribute_named(d_.at(arg));
    return a < 0 ? StaticValue{} : StaticValue::of(bindings_.of[a].size);
  }

  const Names& names_;
  const Bindings& bindings_;
  std::string_view tag_;
  int member_ = -1;
};

}  // namespace etalon::spec::notation
