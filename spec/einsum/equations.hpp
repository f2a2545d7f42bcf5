/// \file
/// The equations of an `einsum`: one for every part of the result that its concatenations tell apart.
#pragma once

#include <cstddef>
#include <string_view>

#include "spec/einsum/places.hpp"
#include "spec/einsum/semiring.hpp"

namespace etalon::spec::einsum_notation {

class Equations : public Places {
  template <class... Parts>
  constexpr void fail(std::size_t where, const Parts&... parts) {
    if (diagnosis_.ok()) diagnosis_ = diagnose("einsum: ", parts...).at(spec_.text, where);
  }

 public:
  static constexpr std::size_t max_choices = 64, max_terms = 16;

  constexpr Equations(const Specification& spec, const Plan& plan, const Semiring& semiring, Diagnosis& diagnosis)
      : Places(spec, plan), semiring_(semiring), diagnosis_(diagnosis) {}

  /// Whether an equation used the attribute that stands for the sum of nothing.
  [[nodiscard]] constexpr bool uses_empty() const { return uses_empty_; }

  /// What the equations need of extents, once they are written.
  constexpr void add_needs(Text& text) const {
    for (std::size_t i = 0; i < plan_.count; ++i) {
      if (!needs_[i]) continue;
      const Identifier& id = plan_.identifiers[i];
      add_all(text, "  requires ", id.row ? "size(.." : "", names_.extent(id.name).view(), id.row ? ") > 0\n" : " > 0\n");
    }
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        if (needs_own_[t][k]) add_all(text, "  requires ", size(t, k).view(), " > 0\n");
      }
    }
  }

  constexpr void add_equations(Text& text) {
    check_choices();
    bool used[Specification::max_operands] = {};
    Choice region(spec_, plan_);
    const std::size_t result = spec_.operand_count;
    std::size_t number = 0;
    do {
      term_count_ = 0;
      Choice term = region;
      do {
        if (!term.contributes()) continue;
        if (term_count_ == max_terms) return fail(spec_.result.begin, "more than 16 terms");
        for (std::size_t t = 0; t < result; ++t) used[t] = used[t] || term.takes(t);
        terms_[term_count_++] = term;
      } while (diagnosis_.ok() && result > 0 && term.advance(0, result - 1));
      add_region(text, region, ++number);
    } while (diagnosis_.ok() && region.advance(result, result));
    for (std::size_t t = 0; t < result; ++t) {
      if (!used[t]) fail(spec_.operands[t].begin, "the result takes nothing of operand ", count(t + 1));
    }
  }

 private:
  constexpr void check_choices() {
    std::size_t choices = 1;
    for (std::size_t t = 0; t <= spec_.operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        if (axis.form == Axis::Form::concat) choices *= axis.piece_count;
        if (choices > max_choices) return fail(axis.begin, "the concatenations leave more than 64 choices");
      }
    }
  }

  /// A maximum that nothing guards is over at least one element.
  constexpr void need_elements(const Choice& region, const Choice& term) {
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      for (std::size_t k = 0; term.takes(t) && k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        needs_own_[t][k] = needs_own_[t][k] || axis.form == Axis::Form::anonymous;
        need(region, axis.form == Axis::Form::concat ? term.piece(t, k).name : axis.name);
        need(region, axis.kernel);
      }
    }
  }
  constexpr void need(const Choice& region, std::string_view name) {
    if (!name.empty() && name != "_" && !is_bound(region, name)) needs_[plan_.find(name)] = true;
  }

  // --- left sides ---

  /// Whether the k-th place of the result is what binds the name.
  constexpr bool binds(const Choice& region, std::size_t k) const {
    const std::string_view name = name_at(region, k);
    if (name.empty()) return false;
    for (std::size_t j = 0; j < k; ++j) {
      if (name_at(region, j) == name) return false;
    }
    return true;
  }
  constexpr std::string_view name_at(const Choice& region, std::size_t k) const {
    const Axis& axis = spec_.result.axes[k];
    if (axis.form == Axis::Form::index || axis.form == Axis::Form::row) return axis.name;
    if (axis.form == Axis::Form::concat) return region.piece(spec_.operand_count, k).name;
    return {};
  }
  constexpr bool is_bound(const Choice& region, std::string_view name) const {
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      if (name_at(region, k) == name) return true;
    }
    return false;
  }
  /// A place that only the first element has.
  static constexpr bool is_first(const Axis& axis) {
    return axis.form == Axis::Form::anonymous || (axis.form == Axis::Form::fixed && axis.number == 0);
  }

  constexpr void add_region(Text& text, const Choice& region, std::size_t number) {
    const std::size_t result = spec_.operand_count;
    bool local = false;
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      const Axis& axis = spec_.result.axes[k];
      if (axis.form != Axis::Form::concat) continue;
      if (!region.piece(result, k).name.empty() && !binds(region, k)) return fail(axis.begin, "a piece of the result is elsewhere in it too");
      local = local || (region.taken(result, k) > 0 && !infers(region.piece(result, k).name));
    }
    const Name target = names_.fresh("y");
    const Name made = local ? names_.fresh("z", count(number)) : target;
    text.add("  ").add(made.view());
    add_left(text, region, local);
    text.add(" = ");
    add_value(text, region);
    text.add("\n");
    if (!local) return;
    text.add("  ").add(target.view());
    add_left(text, region, false);
    text.add(" = ").add(made.view());
    bool first = true;
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      if (is_first(spec_.result.axes[k])) continue;
      text.add(first ? "[" : ", ");
      add_bound(text, region, k);
      first = false;
    }
    text.add(first ? "\n" : "]\n");
  }
  /// Whether a read tells the range of the index.
  constexpr bool infers(std::string_view name) const {
    for (std::size_t i = 0; i < term_count_; ++i) {
      if (terms_[i].is_read(name, true)) return true;
    }
    return false;
  }

  /// The name that the k-th place binds.
  constexpr void add_bound(Text& text, const Choice& region, std::size_t k) const {
    const Axis& axis = spec_.result.axes[k];
    if (axis.form == Axis::Form::row) return add_all(text, "..", names_.index(axis.name).view());
    if (axis.form == Axis::Form::concat) return (void)text.add(piece_index(region, spec_.operand_count, k).view());
    text.add(binds(region, k) ? names_.index(axis.name).view() : place_index(k).view());
  }
  /// Of a local with stated ranges, or of the result.
  constexpr void add_left(Text& text, const Choice& region, bool local) const {
    const std::size_t result = spec_.operand_count;
    bool first = true;
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      const Axis& axis = spec_.result.axes[k];
      if (local && is_first(axis)) continue;
      text.add(first ? "[" : ", ");
      first = false;
      if (is_first(axis)) {
        text.add("0");
        continue;
      }
      const bool piece = axis.form == Axis::Form::concat;
      if (piece && !local && region.taken(result, k) > 0) {
        add_before(text, axis, region.taken(result, k));
        text.add(" + ");
      }
      add_bound(text, region, k);
      if (piece && (local || region.taken(result, k) == 0)) add_piece_extent(text.add(" < "), region.piece(result, k));
      else if (local) add_result_extent(text.add(" < "), axis);
    }
    if (!first) text.add("]");
  }

  // --- right sides ---

  constexpr void add_value(Text& text, const Choice& region) {
    if (term_count_ == 0) return add_zero(text);
    for (std::size_t i = 0; i < term_count_; ++i) {
      const bool last = i + 1 == term_count_;
      if (semiring_.sum_is_function) {
        if (!last) text.add(semiring_.sum).add("(");
        add_term(text, region, terms_[i]);
        if (!last) text.add(", ");
      } else {
        if (term_count_ > 1) text.add("(");
        add_term(text, region, terms_[i]);
        if (term_count_ > 1) text.add(")");
        if (!last) text.add(" ").add(semiring_.sum).add(" ");
      }
    }
    for (std::size_t i = 1; semiring_.sum_is_function && i < term_count_; ++i) text.add(")");
  }
  constexpr void add_zero(Text& text) {
    const bool attribute = !semiring_.empty.empty();
    uses_empty_ = uses_empty_ || attribute;
    text.add(attribute ? names_.fresh(semiring_.zero).view() : semiring_.zero);
  }

  constexpr void add_term(Text& text, const Choice& region, const Choice& term) {
    for (std::size_t k = 0; k < spec_.result.count; ++k) given_[k] = given_by(region, k);
    Text binders;
    add_binders(binders, region, term);
    Text guard;
    add_guard(guard, region, term);
    const bool reduces = !binders.empty() || !guard.empty();
    if (guard.empty() && !semiring_.empty.empty()) need_elements(region, term);
    if (reduces) {
      text.add(semiring_.reduction).add("[").add(binders.view());
      if (!guard.empty()) text.add(binders.empty() ? "where " : " where ").add(guard.view());
      text.add("] ");
    }
    add_product(text, term, reduces);
    if (guard.empty() || semiring_.empty.empty()) return;
    text.add(" else ");
    add_zero(text);
  }
  /// The index of factor 1 that an affine place gives: then no loop looks for it.
  constexpr std::string_view given_by(const Choice& region, std::size_t k) const {
    const Axis& axis = spec_.result.axes[k];
    if (axis.form != Axis::Form::affine) return {};
    if (axis.stride.is_one() && may_be_given(region, k, axis.name)) return axis.name;
    if (!axis.kernel.empty() && axis.dilation.is_one() && may_be_given(region, k, axis.kernel)) return axis.kernel;
    return {};
  }
  constexpr bool may_be_given(const Choice& region, std::size_t k, std::string_view id) const {
    if (plan_[id].piece || is_bound(region, id)) return false;
    for (std::size_t j = 0; j < spec_.result.count; ++j) {
      const Axis& other = spec_.result.axes[j];
      if (j != k && other.form == Axis::Form::affine && (other.name == id || other.kernel == id)) return false;
    }
    return true;
  }
  constexpr bool is_given(std::string_view id) const {
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      if (!given_[k].empty() && given_[k] == id) return true;
    }
    return false;
  }

  constexpr void add_product(Text& text, const Choice& term, bool reduces) const {
    std::size_t left = 0;
    for (std::size_t t = 0; t < spec_.operand_count; ++t) left += term.takes(t) ? 1U : 0U;
    const bool parentheses = reduces && left > 1 && !semiring_.product_is_function && semiring_.product != "*";
    std::size_t open = 0;
    if (parentheses) text.add("(");
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      if (!term.takes(t)) continue;
      --left;
      if (semiring_.product_is_function && left > 0) {
        text.add(semiring_.product).add("(");
        ++open;
      }
      add_read(text, term, t);
      if (left == 0) continue;
      if (semiring_.product_is_function) text.add(", ");
      else text.add(" ").add(semiring_.product).add(" ");
    }
    for (; open > 0; --open) text.add(")");
    if (parentheses) text.add(")");
  }

  /// The indices that the left side does not bind, each once.
  constexpr void add_binders(Text& text, const Choice& region, const Choice& term) const {
    bool seen[Plan::max_identifiers] = {};
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      for (std::size_t k = 0; term.takes(t) && k < shape(t).count; ++k) add_binders_of(text, region, term, t, k, seen);
    }
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      const Axis& axis = spec_.result.axes[k];
      if (axis.form != Axis::Form::affine) continue;
      add_binder(text, region, term, axis.name, seen);
      add_binder(text, region, term, axis.kernel, seen);
    }
  }
  constexpr void add_binders_of(Text& text, const Choice& region, const Choice& term, std::size_t t, std::size_t k,
                                bool* seen) const {
    const Axis& axis = shape(t).axes[k];
    const bool unnamed = axis.form == Axis::Form::concat && term.piece(t, k).name.empty();
    if (axis.form == Axis::Form::anonymous || unnamed) {
      add_all(text, text.empty() ? "" : ", ", own_index(t, k).view());
      if (unnamed) add_all(text, " < ", term.piece(t, k).number);
      return;
    }
    if (axis.form == Axis::Form::concat) return add_binder(text, region, term, term.piece(t, k).name, seen);
    if (axis.form == Axis::Form::fixed) return;
    add_binder(text, region, term, axis.name, seen);
    add_binder(text, region, term, axis.kernel, seen);
  }
  constexpr void add_binder(Text& text, const Choice& region, const Choice& term, std::string_view name, bool* seen) const {
    if (name.empty() || is_bound(region, name) || is_given(name)) return;
    bool& known = seen[plan_.find(name)];
    if (known) return;
    known = true;
    const bool row = plan_[name].row;
    add_all(text, text.empty() ? "" : ", ", row ? ".." : "", names_.index(name).view());
    const bool inferred = row ? !is_joined(name) : term.is_read(name, true);
    if (inferred) return;
    add_extent(text.add(row ? " < .." : " < "), name);
  }

  /// What ties the places of the result to the indices, and keeps padded reads inside.
  constexpr void add_guard(Text& text, const Choice& region, const Choice& term) const {
    const auto also = [&] {
      if (!text.empty()) text.add(" and ");
    };
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      const Axis& axis = spec_.result.axes[k];
      const bool computed = axis.form == Axis::Form::affine || (axis.form == Axis::Form::fixed && !is_first(axis)) ||
                            (axis.form == Axis::Form::index && !binds(region, k));
      if (!computed) continue;
      also();
      if (!given_[k].empty()) {
        add_given(text.add("0 <= "), k);
        add_given(text.add(" and "), k);
        add_extent(text.add(" < "), given_[k]);
        continue;
      }
      if (axis.form == Axis::Form::affine) add_affine(text, axis);
      else if (axis.form == Axis::Form::fixed) text.add(axis.number);
      else text.add(names_.index(axis.name).view());
      add_all(text, " == ", place_index(k).view());
    }
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      bool padded = false;
      for (std::size_t k = 0; k < shape(t).count; ++k) padded = padded || shape(t).axes[k].padded;
      if (!padded || !term.takes(t)) continue;
      also();
      add_read(text.add("inside("), term, t);
      text.add(")");
    }
  }

  const Semiring& semiring_;
  Diagnosis& diagnosis_;
  Choice terms_[max_terms] = {
      {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_},
      {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_},
      {spec_, plan_}, {spec_, plan_}, {spec_, plan_}, {spec_, plan_}};
  std::size_t term_count_ = 0;
  bool uses_empty_ = false;
  bool needs_[Plan::max_identifiers] = {};
  bool needs_own_[Specification::max_operands][Shape::max_axes] = {};
};

}  // namespace etalon::spec::einsum_notation
