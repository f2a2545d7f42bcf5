/// \file
/// Which operands of a call are which of the definition, and their element types. It looks at no extent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/static_value.hpp"
#include "spec/notation/typing_state.hpp"
#include "spec/value_type.hpp"

namespace etalon::spec::notation {

class OperandTyper : protected TypingState {
 protected:
  using TypingState::TypingState;

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
        if (size > max_slots) return fail(d_.operands[i].name.begin, "takes more operands than ", number(max_slots));
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
};

}  // namespace etalon::spec::notation
