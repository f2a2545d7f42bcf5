/// \file
/// What the extents and rows of a definition are in a call: its operands' axes matched with their types until no name
/// is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/layout.hpp"
#include "spec/notation/names.hpp"
#include "spec/notation/operand_typing.hpp"
#include "spec/notation/static_value.hpp"

namespace etalon::spec::notation {

class ExtentSolver : protected OperandTyper {
 public:
  using OperandTyper::OperandTyper;

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

 protected:
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
};

}  // namespace etalon::spec::notation
