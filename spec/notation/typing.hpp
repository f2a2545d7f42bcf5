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
#include "spec/notation/extent_solver.hpp"
#include "spec/notation/layout.hpp"
#include "spec/notation/names.hpp"
#include "spec/notation/static_evaluator.hpp"
#include "spec/notation/typing_state.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec {

namespace notation {

/// The steps of typing a call, in order; then clauses, results and the normal form of attributes.
class Typer : ExtentSolver {
 public:
  using ExtentSolver::ExtentSolver;
  using ExtentSolver::operand_layout;

  /// The axes of each item of a declared result; `dims` becomes its extents.
  constexpr Layout result_layout(std::size_t r, int member, Dims& dims) {
    return result_dims(d_.results[r], member, dims);
  }

  constexpr Typing run() {
    if (ok()) assign_slots();
    if (ok()) element_types();
    if (ok()) values();
    if (ok()) solve();
    if (ok()) clauses();
    if (ok()) compound_extents();
    if (ok()) results();
    if (ok()) count_axes_from_start();
    return out_;
  }

 private:
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
};

}  // namespace notation

/// Types a call. `operands` and `packs` as for `instantiate`.
[[nodiscard]] constexpr Typing type_call(const Definition& d, std::span<const std::optional<ValueType>> operands,
                                         std::span<const std::size_t> packs, const Bindings& bindings) {
  return notation::Typer(d, operands, packs, bindings).run();
}

}  // namespace etalon::spec
