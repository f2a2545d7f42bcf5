/// \file
/// From a specification of `einsum` to a definition in the notation, at compile time and at run time. Total: what is
/// wrong is a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/einsum/equations.hpp"
#include "spec/einsum/parse.hpp"

namespace etalon::spec {

/// The definition that a specification stands for; `diagnosis` says whether it counts.
struct EinsumTranslation {
  einsum_notation::Text text;
  std::size_t result_count = 1;  ///< 1 and one for each captured extent
  Diagnosis diagnosis;
};

namespace einsum_notation {

class Translator : Equations {
  // Templates stand before their uses, for compile time.
  template <class... Parts>
  constexpr void fail(const Parts&... parts) {
    if (out_.diagnosis.ok()) out_.diagnosis = diagnose("einsum: ", parts...).at(spec_.text, 0);
  }

  constexpr Name captured(std::string_view id) const { return names_.fresh("extent_", id); }
  template <class F>
  constexpr void for_each_capture(F f) {
    std::size_t n = 0;
    for (std::size_t at = 0; at < captures_.size() && out_.diagnosis.ok();) {
      std::size_t end = at;
      while (end < captures_.size() && captures_[end] != ' ' && captures_[end] != ',') ++end;
      const std::string_view id = captures_.substr(at, end - at);
      at = end + 1;
      if (id.empty()) continue;
      const int known = plan_.find(id);
      if (known < 0 || plan_.identifiers[known].factor) return fail("no index or row ", id, " to capture");
      if (++n > 5) return fail("captures more than 5 extents");
      f(id);
    }
    out_.result_count = 1 + n;
  }

 public:
  constexpr Translator(const Specification& spec, const Plan& plan, const Semiring& semiring, std::string_view captures,
                       EinsumTranslation& out)
      : Equations(spec, plan, semiring, out.diagnosis), semiring_(semiring), captures_(captures), out_(out) {}

  constexpr void run() {
    Text equations;
    add_equations(equations);
    Text& text = out_.text;
    text.add("-- einsum \"");
    for (const char& c : spec_.text) text.add(c == '\n' || c == '\t' ? std::string_view(" ") : std::string_view(&c, 1));
    text.add("\", ").add(semiring_.name).add("\n");
    add_name(text);
    for (std::size_t t = 0; t < spec_.operand_count; ++t) add_operand(text.add(t == 0 ? "(" : ", "), t);
    text.add(")");
    add_attributes(text);
    add_result(text);
    for_each_capture([&](std::string_view id) { add_all(text, ", ", captured(id).view(), " : int"); });
    text.add("\n");
    add_conditions(text);
    for (std::size_t i = 0; i < plan_.step_count; ++i) add_step(text, plan_.steps[i]);
    add_joins(text);
    add_needs(text);
    text.add(equations.view());
    for_each_capture([&](std::string_view id) {
      add_all(text, "  ", captured(id).view(), " = ", plan_[id].row ? "size(.." : "", names_.extent(id).view(),
              plan_[id].row ? ")\n" : "\n");
    });
    if (text.full || equations.full) fail("the definition is longer than 8000 characters");
  }

 private:
  /// `einsum_`, the letters of the specification, and a number that tells apart what they do not.
  constexpr void add_name(Text& text) const {
    text.add("einsum");
    bool gap = true;
    std::size_t letters = 0;
    for (const char& c : spec_.text) {
      const bool letter = lexer::is_letter(c) || lexer::is_digit(c);
      if (letter && letters < 24) {
        add_all(text, gap ? "_" : "", std::string_view(&c, 1));
        ++letters;
      }
      gap = !letter;
    }
    std::uint32_t hash = 2166136261U;
    for (const std::string_view part : {spec_.text, semiring_.name, captures_}) {
      for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
      hash = (hash ^ 0xffU) * 16777619U;
    }
    text.add("_");
    for (int shift = 28; shift >= 0; shift -= 4) text.add(std::string_view("0123456789abcdef").substr((hash >> shift) & 15U, 1));
  }

  constexpr void add_operand(Text& text, std::size_t t) const {
    text.add(operand(t).view());
    for (std::size_t k = 0; k < shape(t).count; ++k) add_operand_extent(text.add(k == 0 ? "[" : ", "), t, k);
    text.add(shape(t).count > 0 ? "] : " : " : ").add(semiring_.kind);
  }
  constexpr void add_attributes(Text& text) const {
    bool any = false;
    const auto next = [&] {
      text.add(any ? ", " : " {");
      any = true;
    };
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const Identifier& id = plan_.identifiers[i];
      const bool extent = id.extent == Identifier::Extent::attribute;
      if (!id.factor && !extent) continue;
      next();
      add_all(text, id.factor ? names_.index(id.name).view() : names_.extent(id.name).view(), " : int");
    }
    if (uses_empty()) {
      next();
      add_all(text, names_.fresh(semiring_.zero).view(), " : value = ", semiring_.empty);
    }
    if (any) text.add("}");
  }
  constexpr void add_result(Text& text) const {
    text.add(" -> ").add(names_.fresh("y").view());
    for (std::size_t k = 0; k < spec_.result.count; ++k) {
      add_result_extent(text.add(k == 0 ? "[" : ", "), spec_.result.axes[k]);
    }
    if (spec_.result.count > 0) text.add("]");
    if (semiring_.kind == "bool") text.add(" : bool");
  }

  // --- conditions ---

  constexpr void add_conditions(Text& text) const {
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const Identifier& id = plan_.identifiers[i];
      if (id.factor) add_all(text, "  requires ", names_.index(id.name).view(), " > 0\n");
      if (id.extent == Identifier::Extent::attribute) add_all(text, "  requires ", names_.extent(id.name).view(), " >= 0\n");
    }
    for (std::size_t t = 0; t < spec_.operand_count; ++t) {
      for (std::size_t k = 0; k < shape(t).count; ++k) {
        const Axis& axis = shape(t).axes[k];
        if (axis.form == Axis::Form::fixed) add_all(text, "  requires ", axis.number, " < ", size(t, k).view(), "\n");
      }
    }
  }
  template <class F>
  constexpr void add_quotient(Text& text, const Factor& divisor, F dividend, bool plus_one) const {
    if (!divisor.is_one()) text.add("(");
    dividend();
    if (divisor.is_one()) return;
    add_factor(text.add(")//"), divisor);
    if (plus_one) text.add(" + 1");
  }
  constexpr void add_step(Text& text, const Step& step) const {
    const Axis& axis = shape(step.operand).axes[step.axis];
    const Name whole = size(step.operand, step.axis);
    if (step.solves < 0) return add_requirement(text, axis, whole);
    const std::string_view id = plan_.identifiers[step.solves].name;
    add_all(text, "  let ", names_.extent(id).view(), " = ");
    if (axis.form == Axis::Form::concat) {
      text.add(whole.view());
      for (std::size_t p = 0; p < axis.piece_count; ++p) {
        if (axis.pieces[p].name != id || axis.pieces[p].name.empty()) add_piece_extent(text.add(" - "), axis.pieces[p]);
      }
    } else if (axis.padded) {
      add_quotient(text, axis.stride, [&] {
        text.add(whole.view());
        if (axis.stride.is_one()) return;
        add_factor(text.add(" + "), axis.stride);
        text.add(" - 1");
      }, false);
    } else {
      add_room(text, axis, whole, id);
    }
    add_all(text, "\n  requires ", names_.extent(id).view(), " >= 0\n");
  }
  /// How far `over` or the kernel may range so that the axis is never left.
  constexpr void add_room(Text& text, const Axis& axis, const Name& whole, std::string_view id) const {
    const bool over = id == axis.name;
    const Factor& own = over ? axis.stride : axis.dilation;
    add_quotient(text, own, [&] {
      text.add(whole.view());
      const std::int64_t less = axis.number + (own.is_one() ? 0 : 1);
      if (less > 0) add_all(text, " - ", less);
      if (axis.kernel.empty()) return;
      add_reach(text.add(" - "), over ? axis.dilation : axis.stride, over ? axis.kernel : axis.name);
    }, true);
  }
  constexpr void add_requirement(Text& text, const Axis& axis, const Name& whole) const {
    if (axis.padded) return;
    text.add("  requires ");
    if (axis.form == Axis::Form::concat) {
      add_before(text, axis, axis.piece_count);
      return add_all(text, " == ", whole.view(), "\n");
    }
    add_reach(text, axis.stride, axis.name);
    if (axis.number > 0) add_all(text, " + ", axis.number);
    if (!axis.kernel.empty()) add_reach(text.add(" + "), axis.dilation, axis.kernel);
    add_all(text, " < ", whole.view(), "\n");
  }
  constexpr void add_joins(Text& text) const {
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const std::string_view id = plan_.identifiers[i].name;
      if (!plan_.identifiers[i].row || !is_joined(id)) continue;
      add_all(text, "  let ..", names_.extent(id).view(), " = ");
      bool first = true;
      for (std::size_t t = 0; t < spec_.operand_count; ++t) {
        for (std::size_t k = 0; k < shape(t).count; ++k) {
          if (shape(t).axes[k].name != id) continue;
          add_all(text, first ? "" : " & ", own_row(t, id).view());
          first = false;
        }
      }
      text.add("\n");
    }
  }

  const Semiring& semiring_;
  std::string_view captures_;
  EinsumTranslation& out_;
};

}  // namespace einsum_notation

/// Translates a specification.
/// \param captures names of indices and rows, parted by blanks or commas, whose extents are results too
[[nodiscard]] constexpr EinsumTranslation translate_einsum(std::string_view specification,
                                                           std::string_view semiring = "sum_product",
                                                           std::string_view captures = {}) {
  EinsumTranslation out;
  const auto spec = einsum_notation::parse(specification);
  out.diagnosis = spec.diagnosis;
  const Semiring* chosen = semiring_named(semiring);
  if (chosen == nullptr) out.diagnosis = diagnose("einsum: unknown semiring '", semiring, "'");
  if (!out.diagnosis.ok()) return out;
  const einsum_notation::Plan plan(spec);
  out.diagnosis = plan.diagnosis;
  if (out.diagnosis.ok()) einsum_notation::Translator(spec, plan, *chosen, captures, out).run();
  return out;
}

}  // namespace etalon::spec
