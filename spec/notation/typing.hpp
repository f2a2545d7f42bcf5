/// \file
/// Typing: from the types and attributes of a call to the types of its results, in one code for compile time and run
/// time. Total: what is wrong is a value. It reads no right side of an equation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/layout.hpp"
#include "spec/notation/static_value.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

/// The outcome of typing a call; `diagnosis` says whether the rest counts.
struct Typing {
  static constexpr std::size_t max_results = 32;

  Diagnosis diagnosis;
  Dims disagreement[2] = {};           ///< the extents that should be equal and are not, where that is what is wrong
  ValueType results[max_results] = {};
  std::size_t result_count = 0;
  Bindings attributes;                 ///< complete and normalised
  Names names;                         ///< extents, rows and lets
  std::optional<DType> common;         ///< T, the element type that unmarked operands share
  std::size_t first_slot[Definition::max_operands] = {};  ///< of each declared operand among the call's operands
  std::size_t members[Definition::max_operands] = {};     ///< how many slots it has: 1, or the length of its pack

  [[nodiscard]] constexpr bool ok() const { return diagnosis.ok(); }
};

namespace notation {

class Typer {
 public:
  using Operands = std::span<const std::optional<ValueType>>;

  constexpr Typer(const Definition& d, Operands operands, std::span<const std::size_t> packs, const Bindings& bindings)
      : d_(d), operands_(operands), packs_(packs) {
    out_.attributes = bindings;
    out_.diagnosis = bindings.diagnosis;
    if (!d.ok()) out_.diagnosis = d.diagnosis;
  }

  /// Of a call that is typed already, for its layouts.
  constexpr Typer(const Definition& d, const Typing& typing) : d_(d), out_(typing) {}

  /// The axes of each item of a declared operand.
  constexpr Layout operand_layout(std::size_t i, int member, const Dims& dims) {
    Layout l = layout_of(d_, d_.operands[i].axes);
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].row) l.items[k].width = row_width(l.items[k], member);
    }
    if (l.unknown() > 1) fill_singles(l, dims.rank);
    if (l.unknown() == 1) widen(l, dims.rank - l.width());
    if (l.unknown() == 2) split_at_placed(l, dims.rank);
    assign_axes(d_, name(i), dims.rank, l, out_.attributes, out_.diagnosis);
    return l;
  }
  /// The axes of each item of a declared result; `dims` becomes its extents.
  constexpr Layout result_layout(std::size_t r, int member, Dims& dims) {
    return result_dims(d_.results[r], member, dims);
  }

  constexpr Typing run() {
    if (ok()) assign_slots();
    if (ok()) element_types();
    if (ok()) values();
    if (ok()) solve();
    if (ok()) absent_rows();
    if (ok()) clauses();
    if (ok()) compound_extents();
    if (ok()) results();
    if (ok()) count_axes_from_start();
    return out_;
  }

 private:
  constexpr bool ok() const { return out_.diagnosis.ok(); }
  constexpr std::string_view name(std::size_t operand) const { return d_.at(d_.operands[operand].name); }

  template <class... Parts>
  constexpr void fail(std::size_t where, const Parts&... parts) {
    if (ok()) out_.diagnosis = diagnose(d_.name, ": ", parts...).at(d_.text, where);
  }
  static constexpr std::int64_t number(std::size_t n) { return static_cast<std::int64_t>(n); }

  constexpr StaticEvaluator evaluator() { return {d_, out_.names, out_.attributes, out_.diagnosis}; }

  // --- which operand is which ---

  constexpr void assign_slots() {
    std::size_t pack_count = 0;
    std::size_t required = 0;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      pack_count += d_.operands[i].pack ? 1U : 0U;
      required += !d_.operands[i].pack && !d_.operands[i].optional ? 1U : 0U;
    }
    if (!packs_.empty() && packs_.size() != pack_count) {
      return fail(0, "has ", number(pack_count), " packs, the call states the lengths of ", number(packs_.size()));
    }
    if (pack_count > 1 && packs_.size() != pack_count) return fail(0, "the lengths of its packs are not stated");
    const std::size_t singles = d_.operand_count - pack_count;
    std::size_t slot = 0;
    std::size_t pack = 0;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      std::size_t size = 1;
      if (d_.operands[i].pack) {
        size = !packs_.empty() ? packs_[pack] : operands_.size() > singles ? operands_.size() - singles : 0;
        ++pack;
        Entry* e = out_.names.make(name(i), -2, false);
        if (e != nullptr) {
          e->known = true;
          e->value = Dims{number(size)};
        }
      }
      out_.first_slot[i] = slot;
      out_.members[i] = size;
      slot += size;
    }
    check_count(slot, required);
  }

  constexpr void check_count(std::size_t slots, std::size_t required) {
    if (operands_.size() > slots) return wrong_count(slots);
    for (std::size_t i = 0; i < d_.operand_count && ok(); ++i) {
      for (std::size_t m = 0; m < out_.members[i]; ++m) {
        const std::size_t slot = out_.first_slot[i] + m;
        if (present(slot) || d_.operands[i].optional) continue;
        if (slot >= operands_.size()) return wrong_count(required);
        fail(d_.operands[i].name.begin, "operand ", name(i), " is missing");
      }
    }
  }
  constexpr void wrong_count(std::size_t want) {
    if (!ok()) return;
    out_.diagnosis = diagnose(d_.name, ": takes ", number(want), want == 1 ? " operand (" : " operands (");
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      out_.diagnosis.add(i == 0 ? "" : ", ").add(name(i)).add(d_.operands[i].pack ? "#" : "");
      if (d_.operands[i].optional) out_.diagnosis.add("?");
    }
    out_.diagnosis.add("), got ").add(number(operands_.size())).at(d_.text, 0);
  }
  constexpr bool present(std::size_t slot) const { return slot < operands_.size() && operands_[slot].has_value(); }

  // --- element types ---

  static constexpr bool admits(Range r, DType t) {
    switch (r) {
      case Range::real: return kind_of(t) == Kind::real;
      case Range::integer: return kind_of(t) == Kind::integer;
      case Range::boolean: return kind_of(t) == Kind::boolean;
      case Range::number: return kind_of(t) != Kind::boolean;
      default: return true;
    }
  }
  static constexpr std::string_view text_of(Range r) {
    switch (r) {
      case Range::real: return "a real type";
      case Range::integer: return "an integer type";
      case Range::boolean: return "bool";
      case Range::number: return "a real or integer type";
      default: return "any type";
    }
  }

  constexpr void element_types() {
    std::size_t first = 0;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      const OperandText& o = d_.operands[i];
      for (std::size_t m = 0; m < out_.members[i]; ++m) {
        const std::size_t slot = out_.first_slot[i] + m;
        if (!present(slot)) continue;
        const DType t = operands_[slot]->dtype;
        if (!addressable(*operands_[slot])) {
          out_.diagnosis = diagnose(d_.name, ": ", name(i), " is ", name_of(t));
          add_row(out_.diagnosis, operands_[slot]->dims).add(", more than 64 bits can address").at(d_.text, o.name.begin);
          return;
        }
        if (!admits(o.range, t)) {
          return fail(o.name.begin, name(i), " is ", name_of(t), ", want ", text_of(o.range), "; use cast");
        }
        if (o.range == Range::integer || o.range == Range::boolean) continue;
        if (!out_.common) {
          out_.common = t;
          first = i;
        } else if (*out_.common != t) {
          return fail(o.name.begin, name(first), " is ", name_of(*out_.common), ", ", name(i), " is ", name_of(t),
                      "; use cast");
        }
      }
    }
  }

  /// Attributes that are elements take the element type of the operands, or of the first result.
  constexpr void values() {
    for (std::size_t a = 0; a < d_.attribute_count && ok(); ++a) {
      if (d_.attributes[a].kind != AttributeKind::value) continue;
      const DType t = out_.common ? *out_.common : result_type(d_.results[0]);
      if (ok() && !fit_element(out_.attributes.of[a], kind_of(t))) {
        fail(d_.attributes[a].name.begin, "attribute ", d_.at(d_.attributes[a].name), " wants ",
             kind_of(t) == Kind::real      ? "a real number"
             : kind_of(t) == Kind::integer ? "an integer"
                                           : "true or false",
             " beside ", name_of(t));
      }
    }
  }
  /// An integer serves as a real, 0 and 1 as truth values.
  static constexpr bool fit_element(AttributeBinding& b, Kind kind) {
    using Form = AttributeBinding::Form;
    if (kind == Kind::real && b.form == Form::integer) {
      b.form = Form::real;
      b.real = static_cast<double>(b.integer);
    }
    if (kind == Kind::boolean && b.form == Form::integer && (b.integer == 0 || b.integer == 1)) {
      b.form = Form::boolean;
      b.truth = b.integer == 1;
    }
    if (kind == Kind::real) return b.form == Form::real || b.form == Form::runtime;
    return b.form == (kind == Kind::integer ? Form::integer : Form::boolean);
  }

  // --- extents ---

  constexpr void solve() {
    if (d_.family_rank >= 0) {
      if (Entry* e = out_.names.make(d_.at(d_.family_row), -1, true)) e->rank = d_.family_rank;
    }
    bool done[max_slots] = {};
    for (int round = 0; round < 8 && ok(); ++round) {
      bool progress = false;
      for (std::size_t i = 0; i < d_.operand_count && ok(); ++i) progress = solve_operand(i, done) || progress;
      progress = list_ranks() || progress;
      if (!progress) break;
    }
    for (std::size_t i = 0; i < d_.operand_count && ok(); ++i) {
      for (std::size_t m = 0; m < out_.members[i]; ++m) {
        const std::size_t slot = out_.first_slot[i] + m;
        if (present(slot) && !done[slot]) {
          fail(d_.operands[i].name.begin, "the ranks of the rows of ", name(i), " cannot be told apart");
        }
      }
    }
    for (std::size_t i = 0; i < d_.operand_count && ok(); ++i) {
      if (!d_.operands[i].pack && !present(out_.first_slot[i])) settle_absent(i);
    }
  }

  /// A row that only absent operands have is empty, an extent 1.
  constexpr void settle_absent(std::size_t i) {
    const Layout l = layout_of(d_, d_.operands[i].axes);
    for (std::size_t k = 0; k < l.count; ++k) {
      const Layout::Item& item = l.items[k];
      if (d_[item.node].form != NodeForm::name && d_[item.node].form != NodeForm::row) continue;
      Entry* e = out_.names.make(d_.at(item.node), -1, item.row);
      if (e == nullptr) return fail(0, "has more names than a call can hold");
      if (e->known || e->rank > 0) continue;
      e->known = true;
      e->rank = 0;
      if (!item.row) e->value = Dims{1};
    }
  }

  constexpr bool solve_operand(std::size_t i, bool* done) {
    bool progress = false;
    for (std::size_t m = 0; m < out_.members[i] && ok(); ++m) {
      const std::size_t slot = out_.first_slot[i] + m;
      if (slot >= max_slots) {
        fail(0, "takes more operands than ", number(max_slots));
        return false;
      }
      if (done[slot] || !present(slot)) continue;
      done[slot] = match(i, d_.operands[i].pack ? static_cast<int>(m) : -1, operands_[slot]->dims);
      progress = progress || done[slot];
    }
    return progress;
  }

  /// A row that only absent operands have is empty.
  constexpr void absent_rows() {
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      if (d_.operands[i].pack || present(out_.first_slot[i])) continue;
      const Layout l = layout_of(d_, d_.operands[i].axes);
      for (std::size_t k = 0; k < l.count; ++k) {
        if (d_[l.items[k].node].form != NodeForm::row) continue;
        Entry* e = out_.names.make(d_.at(l.items[k].node), -1, true);
        if (e == nullptr) return fail(0, "has more names than a call can hold");
        if (e->known || e->rank > 0) continue;
        e->known = true;
        e->rank = 0;
      }
    }
  }

  /// List attributes fix the rank of their row, and the other way round.
  constexpr bool list_ranks() {
    bool progress = false;
    for (std::size_t a = 0; a < d_.attribute_count && ok(); ++a) {
      const AttributeText& text = d_.attributes[a];
      const AttributeBinding& b = out_.attributes.of[a];
      if (text.row.length == 0 || b.form != AttributeBinding::Form::list) continue;
      Entry* e = out_.names.make(d_.at(text.row), -1, true);
      if (e == nullptr) return false;
      if (e->rank < 0) {
        if (b.size > Dims::max_rank) return fail(text.name.begin, d_.at(text.name), " has more than 8 items"), false;
        e->rank = static_cast<std::int8_t>(b.size);
        progress = true;
      } else if (e->rank != b.size) {
        fail(text.name.begin, d_.at(text.name), " has ", number(b.size), " items, row ", e->name, " has ",
             std::int64_t{e->rank}, " axes");
      }
    }
    return progress;
  }

  /// The rank of a row item, or -1.
  constexpr std::int8_t row_width(const Layout::Item& item, int member) {
    const NodeText& t = d_[item.node];
    if (item.attribute >= 0) {
      AttributeBinding& b = out_.attributes.of[item.attribute];
      if (b.form == AttributeBinding::Form::list) return static_cast<std::int8_t>(b.size);
    }
    if (t.form == NodeForm::row || t.form == NodeForm::pack_name) {
      const Entry* e = out_.names.find(d_.at(item.node), t.form == NodeForm::row ? -1 : member);
      if (e != nullptr) return e->rank;
      return -1;
    }
    const StaticValue v = evaluator().evaluate(item.node);
    return v.form == StaticValue::Form::row ? static_cast<std::int8_t>(v.row.rank) : std::int8_t{-1};
  }

  /// Matches an operand's axes with its type; false while a rank is unknown.
  constexpr bool match(std::size_t i, int member, const Dims& dims) {
    Layout l = layout_of(d_, d_.operands[i].axes);
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].row) l.items[k].width = row_width(l.items[k], member);
    }
    expand_all(l, dims.rank);
    if (l.width() > dims.rank || (l.unknown() == 0 && l.width() != dims.rank)) return wrong_rank(i, dims, l);
    if (l.unknown() > 0) fill_singles(l, dims.rank);
    if (l.unknown() == 1) widen(l, dims.rank - l.width());
    if (l.unknown() == 2) split_at_placed(l, dims.rank);
    if (!ok() || l.unknown() > 0) return false;
    if (l.width() != dims.rank) return wrong_rank(i, dims, l);
    assign_axes(d_, name(i), dims.rank, l, out_.attributes, out_.diagnosis);
    for (std::size_t k = 0; k < l.count && ok(); ++k) bind(l.items[k], member, dims, name(i));
    return ok();
  }

  constexpr bool wrong_rank(std::size_t i, const Dims& dims, const Layout& l) {
    fail(d_.operands[i].name.begin, name(i), " has rank ", number(dims.rank), ", want ",
         l.unknown() > 0 ? "at least " : "", number(l.width()));
    return false;
  }

  /// `..m?` takes an axis where the items of known width leave one.
  static constexpr void fill_singles(Layout& l, std::size_t rank) {
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].single && l.items[k].width < 0) l.items[k].width = l.width() < rank ? 1 : 0;
    }
  }

  /// `axes = all`: the placed row takes every axis that no other item needs; `reversed` the last of them first.
  constexpr void expand_all(Layout& l, std::size_t rank) {
    for (std::size_t k = 0; k < l.count; ++k) {
      Layout::Item& item = l.items[k];
      if (item.attribute < 0 || !item.row) continue;
      AttributeBinding& b = out_.attributes.of[item.attribute];
      const bool reversed = b.form == AttributeBinding::Form::reversed;
      if (b.form != AttributeBinding::Form::all && !reversed) continue;
      b.form = AttributeBinding::Form::list;
      b.size = 0;
      const std::size_t others = l.width();
      for (std::size_t a = 0; a + others < rank; ++a) {
        b.list[b.size++] = static_cast<std::int64_t>(reversed ? rank - others - 1 - a : a);
      }
      item.width = static_cast<std::int8_t>(b.size);
    }
  }

  static constexpr void widen(Layout& l, std::size_t width) {
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].width < 0) l.items[k].width = static_cast<std::int8_t>(width);
    }
  }

  /// A placed axis between two unknown rows parts them: the left one ends where it stands.
  constexpr void split_at_placed(Layout& l, std::size_t rank) {
    std::size_t left = l.count;
    std::size_t before = 0;
    for (std::size_t k = 0; k < l.count; ++k) {
      const Layout::Item& item = l.items[k];
      if (item.width < 0 && left < l.count) return;
      if (item.width < 0) {
        left = k;
      } else if (item.attribute >= 0 && !item.row && left < l.count) {
        std::int64_t axis = out_.attributes.of[item.attribute].integer;
        if (axis < 0) axis += number(rank);
        const std::int64_t width = axis - number(before);
        if (width < 0 || axis >= number(rank)) {
          return fail(d_[item.node].text.begin, d_.at(d_.attributes[item.attribute].name), " is ",
                      out_.attributes.of[item.attribute].integer, ", the rank is ", number(rank));
        }
        l.items[left].width = static_cast<std::int8_t>(width);
        return widen(l, rank - l.width());
      } else {
        before += static_cast<std::size_t>(item.width);
      }
    }
  }

  constexpr void bind(const Layout::Item& item, int member, const Dims& dims, std::string_view operand) {
    const NodeText& t = d_[item.node];
    Dims value;
    for (int k = 0; k < item.width; ++k) value.push_back(dims[item.axis[k]]);
    const bool named = t.form == NodeForm::name || t.form == NodeForm::row || t.form == NodeForm::pack_name;
    if (!named) return;  // compound extents are checked when every name is known
    Entry* e = out_.names.make(d_.at(item.node), t.form == NodeForm::pack_name ? member : -1, item.row);
    if (e == nullptr) return fail(0, "has more names than a call can hold");
    if (!e->known) {
      e->known = true;
      e->rank = static_cast<std::int8_t>(value.rank);
      e->value = value;
      e->from = operand;
    } else if (!(e->value == value)) {
      mismatch(*e, value, operand, t.text.begin);
    }
  }

  constexpr void mismatch(const Entry& e, const Dims& value, std::string_view operand, std::size_t where) {
    out_.diagnosis = diagnose(d_.name, ": ", e.is_row && e.name != "..." ? ".." : "", e.name, " is ");
    if (e.is_row) {
      add_row(out_.diagnosis, e.value).add(" in ").add(e.from).add(", ");
      add_row(out_.diagnosis, value);
    } else {
      out_.diagnosis.add(e.value[0]).add(" in ").add(e.from).add(", ").add(value[0]);
    }
    out_.diagnosis.add(" in ").add(operand).at(d_.text, where);
    out_.disagreement[0] = e.value;
    out_.disagreement[1] = value;
  }

  // --- clauses and results ---

  constexpr void clauses() {
    for (std::size_t c = 0; c < d_.clause_count && ok(); ++c) {
      const ClauseText& clause = d_.clauses[c];
      if (clause.form == ClauseText::Form::let) let(clause);
      if (clause.form != ClauseText::Form::require) continue;
      bool holds = false;
      if (evaluator().truth(clause.value, holds) && !holds) {
        fail(clause.text.begin, "violated: ", d_.at(clause.text));
      }
    }
  }

  constexpr void let(const ClauseText& clause) {
    const NodeText& target = d_[clause.target_row];
    const bool is_row = target.form == NodeForm::row;
    Dims value;
    std::int64_t single = 0;
    if (is_row ? !evaluator().row(clause.value, value) : !evaluator().integer(clause.value, single)) return;
    if (!is_row) value.push_back(single);
    if (out_.names.find(d_.at(clause.target_row)) != nullptr) {
      return fail(clause.text.begin, "let hides ", d_.at(clause.target_row));
    }
    Entry* e = out_.names.make(d_.at(clause.target_row), -1, is_row);
    if (e == nullptr) return fail(0, "has more names than a call can hold");
    e->known = true;
    e->rank = static_cast<std::int8_t>(value.rank);
    e->value = value;
  }

  /// Extents such as `4*n` in an operand, once n is known.
  constexpr void compound_extents() {
    for (std::size_t i = 0; i < d_.operand_count && ok(); ++i) {
      for (std::size_t m = 0; m < out_.members[i]; ++m) {
        const std::size_t slot = out_.first_slot[i] + m;
        if (present(slot)) check_compound(i, d_.operands[i].pack ? static_cast<int>(m) : -1, operands_[slot]->dims);
      }
    }
  }
  constexpr void check_compound(std::size_t i, int member, const Dims& dims) {
    const Layout l = operand_layout(i, member, dims);
    for (std::size_t k = 0; k < l.count && ok(); ++k) {
      const Layout::Item& item = l.items[k];
      if (item.row || d_[item.node].form == NodeForm::name || d_[item.node].form == NodeForm::pack_name) continue;
      std::int64_t want = 0;
      if (!evaluator().integer(item.node, want) || want == dims[item.axis[0]]) continue;
      fail(d_[item.node].text.begin, d_.at(item.node), " is ", want, ", ", name(i), " has ", dims[item.axis[0]]);
      out_.disagreement[0] = Dims{want};
      out_.disagreement[1] = Dims{dims[item.axis[0]]};
    }
  }

  constexpr void results() {
    for (std::size_t r = 0; r < d_.result_count && ok(); ++r) {
      const OperandText& text = d_.results[r];
      const int members = text.pack ? result_members() : 1;
      for (int m = 0; m < members && ok(); ++m) {
        if (out_.result_count == Typing::max_results) return fail(text.name.begin, "has more than 32 results");
        ValueType& type = out_.results[out_.result_count++];
        type.dtype = result_type(text);
        (void)result_dims(text, text.pack ? m : -1, type.dims);
        require_addressable(text, type);
      }
    }
  }

  /// The normal form of attributes that place axes: counted from the start, if that means the same in every tensor.
  constexpr void count_axes_from_start() {
    std::int64_t rank[Definition::max_attributes] = {};  // plus 1; 0 where no tensor has the placement, -1 where several differ
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      for (std::size_t m = 0; m < out_.members[i]; ++m) {
        const std::size_t slot = out_.first_slot[i] + m;
        if (present(slot)) placed_in(layout_of(d_, d_.operands[i].axes), operands_[slot]->dims.rank, rank);
      }
    }
    for (std::size_t i = 0; i < d_.result_count; ++i) {
      const int members = d_.results[i].pack ? result_members() : 1;
      for (int m = 0; m < members; ++m) {
        Dims dims;
        const Layout l = result_dims(d_.results[i], d_.results[i].pack ? m : -1, dims);
        placed_in(l, dims.rank, rank);
      }
    }
    for (std::size_t a = 0; a < d_.attribute_count; ++a) {
      AttributeBinding& b = out_.attributes.of[a];
      if (rank[a] <= 0) continue;
      if (b.form == AttributeBinding::Form::integer && b.integer < 0) b.integer += rank[a] - 1;
      if (b.form != AttributeBinding::Form::list) continue;
      for (std::size_t k = 0; k < b.size; ++k) b.list[k] += b.list[k] < 0 ? rank[a] - 1 : 0;
    }
  }
  static constexpr void placed_in(const Layout& l, std::size_t tensor_rank, std::int64_t* rank) {
    for (std::size_t k = 0; k < l.count; ++k) {
      if (l.items[k].attribute < 0 || l.items[k].width == 0) continue;
      std::int64_t& known = rank[l.items[k].attribute];
      known = known == 0 || known == number(tensor_rank) + 1 ? number(tensor_rank) + 1 : -1;
    }
  }

  constexpr void require_addressable(const OperandText& text, const ValueType& type) {
    if (!ok() || addressable(type)) return;
    out_.diagnosis = diagnose(d_.name, ": ", d_.at(text.name), " would be ", name_of(type.dtype));
    add_row(out_.diagnosis, type.dims).add(", more than 64 bits can address").at(d_.text, text.name.begin);
  }

  /// A pack of results is as long as the first pack of operands or of attributes.
  constexpr int result_members() const {
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      if (d_.operands[i].pack) return static_cast<int>(out_.members[i]);
    }
    for (std::size_t a = 0; a < d_.attribute_count; ++a) {
      if (d_.attributes[a].pack) return out_.attributes.of[a].size;
    }
    return 0;
  }

  constexpr DType result_type(const OperandText& r) {
    switch (r.range) {
      case Range::integer: return DType::i64;
      case Range::boolean: return DType::boolean;
      case Range::attribute: {
        const int a = d_.attribute_named(d_.at(r.dtype));
        const auto named = a < 0 ? std::nullopt : dtype_named(out_.attributes.of[a].symbol);
        if (!named) fail(r.name.begin, d_.at(r.dtype), " is not an element type");
        return named.value_or(DType::f32);
      }
      default: break;
    }
    if (!out_.common) fail(r.name.begin, "nothing states the element type of ", d_.at(r.name));
    return out_.common.value_or(DType::f32);
  }

  constexpr Layout result_dims(const OperandText& text, int member, Dims& dims) {
    Layout l = layout_of(d_, text.axes);
    Dims rows[Layout::capacity];
    std::size_t rank = 0;
    for (std::size_t k = 0; k < l.count && ok(); ++k) {
      StaticEvaluator e = evaluator();
      if (member >= 0) {
        if (const Entry* whole = out_.names.find(d_.at(l.items[k].node), member);
            whole != nullptr && whole->known && d_[l.items[k].node].form == NodeForm::pack_name) {
          rows[k] = whole->value;
        } else if (!pack_attribute(l.items[k].node, member, rows[k])) {
          extent(e, l.items[k], rows[k]);
        }
      } else {
        extent(e, l.items[k], rows[k]);
      }
      l.items[k].width = static_cast<std::int8_t>(rows[k].rank);
      rank += rows[k].rank;
    }
    if (ok() && rank > Dims::max_rank) fail(text.name.begin, d_.at(text.name), " has more than 8 axes");
    if (!ok()) return l;
    assign_axes(d_, d_.at(text.name), rank, l, out_.attributes, out_.diagnosis);
    dims.rank = rank;
    for (std::size_t k = 0; k < l.count; ++k) {
      for (int j = 0; j < l.items[k].width; ++j) dims[l.items[k].axis[j]] = rows[k][static_cast<std::size_t>(j)];
    }
    return l;
  }

  constexpr bool pack_attribute(NodeId n, int member, Dims& row) const {
    const int a = d_[n].form == NodeForm::pack_name ? d_.attribute_named(d_.at(n)) : -1;
    if (a < 0 || member >= out_.attributes.of[a].size) return false;
    row.push_back(out_.attributes.of[a].list[member]);
    return true;
  }

  constexpr void extent(const StaticEvaluator& e, const Layout::Item& item, Dims& row) {
    std::int64_t single = 0;
    if (item.row ? !e.row(item.node, row) : !e.integer(item.node, single)) return;
    if (!item.row) row.push_back(single);
    for (std::size_t k = 0; k < row.rank; ++k) {
      if (row[k] < 0) return fail(d_[item.node].text.begin, "extent ", d_.at(item.node), " is ", row[k]);
    }
  }

  static constexpr std::size_t max_slots = 64;
  const Definition& d_;
  Operands operands_;
  std::span<const std::size_t> packs_;
  Typing out_;
};

}  // namespace notation

/// Types a call. `operands` and `packs` as for `instantiate`.
[[nodiscard]] constexpr Typing type_call(const Definition& d, std::span<const std::optional<ValueType>> operands,
                                         std::span<const std::size_t> packs, const Bindings& bindings) {
  return notation::Typer(d, operands, packs, bindings).run();
}

}  // namespace etalon::spec
