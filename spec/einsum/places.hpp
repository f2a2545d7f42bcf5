/// \file
/// Places and extents of the axes of an `einsum`, as text of the notation.
#pragma once

#include <cstddef>
#include <string_view>

#include "spec/einsum/choice.hpp"
#include "spec/einsum/names.hpp"
#include "spec/einsum/plan.hpp"
#include "spec/einsum/text.hpp"

namespace etalon::spec::einsum_notation {

class Places {
 public:
  constexpr Places(const Specification& spec, const Plan& plan) : spec_(spec), plan_(plan), names_(plan) {}

 protected:
  [[nodiscard]] constexpr const Shape& shape(std::size_t t) const {
    return t < spec_.operand_count ? spec_.operands[t] : spec_.result;
  }
  [[nodiscard]] constexpr Name operand(std::size_t t) const { return names_.fresh("x", count(t + 1)); }
  /// The extent of an axis of an operand that is not the extent of an index.
  [[nodiscard]] constexpr Name size(std::size_t t, std::size_t k) const {
    return names_.fresh("s", count(t + 1), "_", count(k + 1));
  }
  /// The index of such an axis.
  [[nodiscard]] constexpr Name own_index(std::size_t t, std::size_t k) const {
    return names_.fresh("r", count(t + 1), "_", count(k + 1));
  }
  /// The row that an operand brings to a join.
  [[nodiscard]] constexpr Name own_row(std::size_t t, std::string_view id) const {
    return names_.fresh("w", count(t + 1), "_", id);
  }
  [[nodiscard]] static constexpr std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

  /// Whether several operands share the row by broadcasting.
  [[nodiscard]] constexpr bool is_joined(std::string_view row) const { return plan_[row].joins && plan_[row].sharers > 1; }

  // --- extents ---

  constexpr void add_factor(Text& text, const Factor& f) const {
    if (f.name.empty()) text.add(f.number);
    else text.add(names_.index(f.name).view());
  }
  /// `2*`, or nothing.
  constexpr void add_times(Text& text, const Factor& f) const {
    if (f.is_one()) return;
    add_factor(text, f);
    text.add("*");
  }
  constexpr void add_extent(Text& text, std::string_view id) const { text.add(names_.extent(id).view()); }
  /// `d*(n_k - 1)`
  constexpr void add_reach(Text& text, const Factor& f, std::string_view id) const {
    add_times(text, f);
    text.add("(");
    add_extent(text, id);
    text.add(" - 1)");
  }

  constexpr void add_operand_extent(Text& text, std::size_t t, std::size_t k) const {
    const Axis& axis = shape(t).axes[k];
    if (axis.form == Axis::Form::index) return add_extent(text, axis.name);
    if (axis.form != Axis::Form::row) return (void)text.add(size(t, k).view());
    text.add("..").add(is_joined(axis.name) ? own_row(t, axis.name).view() : names_.extent(axis.name).view());
  }
  constexpr void add_result_extent(Text& text, const Axis& axis) const {
    switch (axis.form) {
      case Axis::Form::index: return add_extent(text, axis.name);
      case Axis::Form::fixed: return (void)text.add(axis.number + 1);
      case Axis::Form::anonymous: return (void)text.add("1");
      case Axis::Form::row: return add_extent(text.add(".."), axis.name);
      case Axis::Form::concat:
        text.add("(");
        add_before(text, axis, axis.piece_count);
        return (void)text.add(")");
      case Axis::Form::affine: return add_affine_extent(text.add("("), axis);
    }
  }
  /// What an affine place of the result reaches: whole strides where its offset stays below the stride.
  constexpr void add_affine_extent(Text& text, const Axis& axis) const {
    const bool whole = axis.padded || (axis.kernel.empty() && (axis.number == 0 || (axis.stride.name.empty() && axis.number < axis.stride.number)));
    if (whole) {
      add_times(text, axis.stride);
      add_extent(text, axis.name);
      return (void)text.add(")");
    }
    const bool either = axis.kernel.empty() && !axis.stride.name.empty();
    if (either) {
      add_all(text, "if ", axis.number, " < ", names_.index(axis.stride.name).view(), " then ");
      add_times(text, axis.stride);
      add_extent(text, axis.name);
      text.add(" else ");
    }
    if (axis.stride.is_one()) add_extent(text, axis.name);
    else add_reach(text, axis.stride, axis.name);
    if (!axis.kernel.empty()) add_reach(text.add(" + "), axis.dilation, axis.kernel);
    const std::int64_t more = axis.number + (axis.stride.is_one() ? 0 : 1);
    if (more > 0) add_all(text, " + ", more);
    text.add(")");
  }

  /// The extents of the first pieces; `0` where there are none.
  constexpr void add_before(Text& text, const Axis& axis, std::size_t pieces) const {
    if (pieces == 0) text.add("0");
    for (std::size_t p = 0; p < pieces; ++p) {
      if (p > 0) text.add(" + ");
      add_piece_extent(text, axis.pieces[p]);
    }
  }
  constexpr void add_piece_extent(Text& text, const Piece& piece) const {
    if (piece.name.empty()) text.add(piece.number);
    else add_extent(text, piece.name);
  }

  // --- places ---

  /// Of a place of the result that no name of the specification stands for.
  [[nodiscard]] constexpr Name place_index(std::size_t k) const { return names_.fresh("p", count(k + 1)); }

  /// The index, or what it is where a place of the result gives it.
  constexpr void add_index(Text& text, std::string_view id) const {
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      if (given_[k].empty() || given_[k] != id) continue;
      text.add("(");
      add_given(text, k);
      return (void)text.add(")");
    }
    text.add(names_.index(id).view());
  }
  /// `p1 - 2*i - 1`: the index of factor 1 that the k-th place of the result gives.
  constexpr void add_given(Text& text, std::size_t k) const {
    const Axis& axis = spec_.result.axes[k];
    const bool over = given_[k] == axis.name;
    text.add(place_index(k).view());
    if (!axis.kernel.empty()) {
      add_times(text.add(" - "), over ? axis.dilation : axis.stride);
      text.add(names_.index(over ? axis.kernel : axis.name).view());
    }
    if (axis.number > 0) add_all(text, " - ", axis.number);
    if (axis.padded) add_padding(text.add(" + "), axis);
  }
  constexpr void add_affine(Text& text, const Axis& axis) const {
    add_times(text, axis.stride);
    add_index(text, axis.name);
    if (axis.number > 0) add_all(text, " + ", axis.number);
    if (axis.kernel.empty()) return;
    add_times(text.add(" + "), axis.dilation);
    add_index(text, axis.kernel);
    if (axis.padded) add_padding(text.add(" - "), axis);
  }
  /// The positions before the first: half of what the kernel reaches beyond its first position, rounded down.
  constexpr void add_padding(Text& text, const Axis& axis) const {
    if (!axis.dilation.is_one()) text.add("(");
    add_reach(text, axis.dilation, axis.kernel);
    text.add(axis.dilation.is_one() ? "//2" : ")//2");
  }

  /// The index in a chosen piece.
  [[nodiscard]] constexpr Name piece_index(const Choice& choice, std::size_t t, std::size_t k) const {
    const Piece& piece = choice.piece(t, k);
    return piece.name.empty() ? own_index(t, k) : names_.index(piece.name);
  }
  /// Alone in its place an index needs no parentheses.
  constexpr void add_place_index(Text& text, std::string_view id) const {
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      if (!given_[k].empty() && given_[k] == id) return add_given(text, k);
    }
    text.add(names_.index(id).view());
  }
  constexpr void add_operand_place(Text& text, const Choice& choice, std::size_t t, std::size_t k) const {
    const Axis& axis = shape(t).axes[k];
    switch (axis.form) {
      case Axis::Form::index: return add_place_index(text, axis.name);
      case Axis::Form::fixed: return (void)text.add(axis.number);
      case Axis::Form::anonymous: return (void)text.add(own_index(t, k).view());
      case Axis::Form::row: return add_all(text, "..", names_.index(axis.name).view());
      case Axis::Form::affine: return add_affine(text, axis);
      case Axis::Form::concat:
        if (choice.taken(t, k) > 0) {
          add_before(text, axis, choice.taken(t, k));
          text.add(" + ");
        }
        return (void)text.add(piece_index(choice, t, k).view());
    }
  }
  /// `x1[i, j]`
  constexpr void add_read(Text& text, const Choice& choice, std::size_t t) const {
    text.add(operand(t).view());
    if (shape(t).count == 0) return;
    for (std::size_t k = 0; k < shape(t).count; ++k) add_operand_place(text.add(k == 0 ? "[" : ", "), choice, t, k);
    text.add("]");
  }

  const Specification& spec_;
  const Plan& plan_;
  Names names_;
  std::string_view given_[Shape::max_axes] = {};  ///< per place of the result, the index that it gives in this term
};

}  // namespace etalon::spec::einsum_notation
