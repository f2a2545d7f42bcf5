/// \file
/// The values of a call's attributes, checked against their declarations, at compile time and at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "spec/attribute.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/lexer.hpp"
#include "spec/notation/nearest.hpp"

namespace etalon::spec {

/// The value of one attribute.
struct AttributeBinding {
  enum class Form : std::uint8_t { missing, integer, real, boolean, symbol, list, all, reversed, runtime };
  static constexpr std::size_t capacity = 32;

  Form form = Form::missing;
  bool truth = false;
  std::uint8_t size = 0;               ///< of the list
  std::int64_t integer = 0;
  double real = 0;
  std::string_view symbol;             ///< also an element type, or the name of a run-time scalar
  std::int64_t list[capacity] = {};
};

/// The values of all attributes of a definition, in the order of their declaration.
struct Bindings {
  AttributeBinding of[Definition::max_attributes] = {};
  Diagnosis diagnosis;
};

namespace notation {

/// The binary64 nearest to a decimal text outside the range that one rounding reaches.
[[nodiscard]] double nearest_binary64(std::string_view text);

/// The binary64 nearest to a decimal literal. At compile time literals of more than 15 digits or with exponents beyond
/// 22 may be an ulp off; they then serve in comparisons only, because values are always taken at run time.
[[nodiscard]] constexpr double binary64_of(std::string_view text) {
  double mantissa = 0;
  int exponent = 0;
  int digits = 0;
  std::size_t i = 0;
  bool fraction = false;
  for (; i < text.size() && text[i] != 'e'; ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    mantissa = mantissa * 10 + (text[i] - '0');
    if (mantissa > 0) ++digits;
    if (fraction) --exponent;
  }
  if (i < text.size()) {
    ++i;
    const bool negative = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    int e = 0;
    for (; i < text.size() && e < 10000; ++i) e = e * 10 + (text[i] - '0');
    exponent += negative ? -e : e;
  }
  const bool exact = digits <= 15 && exponent >= -22 && exponent <= 22;
  if (!exact && !__builtin_is_constant_evaluated()) return nearest_binary64(text);
  double scale = 1;
  for (int n = exponent < 0 ? -exponent : exponent; n > 0 && n < 400; --n) {
    if (scale > 1e300) break;
    scale *= 10;
  }
  return exponent < 0 ? mantissa / scale : mantissa * scale;
}

/// Reads one attribute value from text, starting at `from`; returns the position after it, or `from` on nonsense.
[[nodiscard]] constexpr std::size_t read_value(std::string_view text, std::size_t from, AttributeBinding& value) {
  using Form = AttributeBinding::Form;
  Token t = lexer::next(text, from);
  if (t.is("[")) {
    value.form = Form::list;
    std::size_t at = t.begin + 1;
    for (t = lexer::next(text, at); !t.is("]"); t = lexer::next(text, at)) {
      if (t.is("[")) return from;
      AttributeBinding item;
      const std::size_t end = read_value(text, at, item);
      if (end == at || item.form != Form::integer || value.size == AttributeBinding::capacity) return from;
      value.list[value.size++] = item.integer;
      at = end;
      t = lexer::next(text, at);
      if (t.is(",")) at = t.begin + 1;
      else if (!t.is("]")) return from;
    }
    return t.begin + 1;
  }
  const bool negative = t.is("-");
  if (negative) t = lexer::next(text, t.begin + 1);
  const std::size_t end = t.begin + t.text.size();
  if (t.form == TokenForm::number) {
    if (lexer::is_whole(t.text)) {
      value.form = Form::integer;
      if (!lexer::integer_of(t.text, value.integer)) return from;
      if (negative) value.integer = -value.integer;
      return end;
    }
    value.form = Form::real;
    value.real = negative ? -binary64_of(t.text) : binary64_of(t.text);
    return end;
  }
  if (t.form != TokenForm::name) return from;
  if (t.text == "inf" || t.text == "nan") {
    value.form = Form::real;
    value.real = t.text == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                 : (negative ? -1 : 1) * std::numeric_limits<double>::infinity();
    return end;
  }
  if (negative) return from;
  value.form = t.text == "all" ? Form::all : t.text == "reversed" ? Form::reversed : Form::symbol;
  value.symbol = t.text;
  if (t.text == "true" || t.text == "false") {
    value.form = Form::boolean;
    value.truth = t.text == "true";
  }
  return end;
}

[[nodiscard]] constexpr std::string_view kind_text(const AttributeText& a) {
  switch (a.kind) {
    case AttributeKind::integer: return "an integer";
    case AttributeKind::real: return "a real number";
    case AttributeKind::boolean: return "true or false";
    case AttributeKind::symbol: return "one of ";
    case AttributeKind::dtype: return "an element type";
    case AttributeKind::integers: return "an integer or a list of integers";
    case AttributeKind::axes: return "a list of axes, all or reversed";
    case AttributeKind::value: return "a number or a truth value";
  }
  return "?";
}

/// Whether `symbol` is among `a | b | c`.
[[nodiscard]] constexpr bool is_choice(std::string_view choices, std::string_view symbol) {
  std::size_t at = 0;
  while (true) {
    const Token t = lexer::next(choices, at);
    if (t.form == TokenForm::end) return false;
    if (t.form == TokenForm::name && t.text == symbol) return true;
    at = t.begin + t.text.size();
  }
}

/// Whether a value fits its declaration; an integer given for a real becomes one, one axis given for a list a list.
[[nodiscard]] constexpr bool fit(const Definition& d, const AttributeText& a, AttributeBinding& v) {
  using Form = AttributeBinding::Form;
  switch (a.kind) {
    case AttributeKind::integer: return v.form == Form::integer;
    case AttributeKind::real:
      if (v.form == Form::integer) {
        v.form = Form::real;
        v.real = static_cast<double>(v.integer);
      }
      return v.form == Form::real || v.form == Form::runtime;
    case AttributeKind::boolean: return v.form == Form::boolean;
    case AttributeKind::symbol: return v.form == Form::symbol && is_choice(d.at(a.choices), v.symbol);
    case AttributeKind::dtype: return v.form == Form::symbol && dtype_named(v.symbol).has_value();
    case AttributeKind::integers: return v.form == Form::list || (v.form == Form::integer && !a.pack);
    case AttributeKind::axes:
      if (v.form == Form::integer) {
        v.form = Form::list;
        v.list[0] = v.integer;
        v.size = 1;
      }
      return v.form == Form::list || v.form == Form::all || v.form == Form::reversed;
    case AttributeKind::value:
      return v.form == Form::integer || v.form == Form::real || v.form == Form::boolean || v.form == Form::runtime;
  }
  return false;
}

constexpr void complain_of_kind(const Definition& d, const AttributeText& a, Bindings& b) {
  b.diagnosis = diagnose(d.name, ": attribute ", d.at(a.name), " wants ", kind_text(a));
  if (a.kind == AttributeKind::symbol) b.diagnosis.add(d.at(a.choices));
  b.diagnosis.at(d.text, a.name.begin);
}

constexpr void complain_of_name(const Definition& d, std::string_view name, Bindings& b) {
  b.diagnosis = diagnose(d.name, ": no attribute ", name);
  std::string_view best;
  std::size_t least = ~std::size_t{0};
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const std::size_t e = edits(name, d.at(d.attributes[i].name));
    if (e < least) {
      least = e;
      best = d.at(d.attributes[i].name);
    }
  }
  if (!best.empty()) b.diagnosis.add("; did you mean ").add(best).add("?");
}

/// Fills defaults in and reports what is missing; a missing real is left to run time where `partial`.
constexpr void complete(const Definition& d, Bindings& b, bool partial = false) {
  for (std::size_t i = 0; i < d.attribute_count && b.diagnosis.ok(); ++i) {
    const AttributeText& a = d.attributes[i];
    AttributeBinding& v = b.of[i];
    if (v.form == AttributeBinding::Form::missing) {
      if (!a.has_default && partial && a.kind == AttributeKind::real) {
        v.form = AttributeBinding::Form::runtime;
        continue;
      }
      if (!a.has_default) {
        b.diagnosis = diagnose(d.name, ": attribute ", d.at(a.name), " is missing").at(d.text, a.name.begin);
        return;
      }
      if (a.same_as >= 0) v = b.of[a.same_as];
      else (void)read_value(d.at(a.value), 0, v);
    }
    if (!fit(d, a, v)) complain_of_kind(d, a, b);
  }
}

}  // namespace notation

/// Binds `axis=0, keepdims=true`. Total: what is wrong is in `diagnosis`. Where `partial`, real attributes may be
/// missing, to be set at run time: no type depends on them.
[[nodiscard]] constexpr Bindings bind_attributes(const Definition& d, std::string_view text, bool partial = false) {
  Bindings b;
  if (!d.ok()) {
    b.diagnosis = d.diagnosis;
    return b;
  }
  std::size_t at = 0;
  for (Token name = lexer::next(text, at); name.form != TokenForm::end; name = lexer::next(text, at)) {
    const int which = d.attribute_named(name.text);
    const Token sign = lexer::next(text, name.begin + name.text.size());
    if (which < 0 || name.form != TokenForm::name) {
      notation::complain_of_name(d, name.text, b);
      return b;
    }
    const std::size_t start = sign.begin + 1;
    at = sign.is("=") ? notation::read_value(text, start, b.of[which]) : start;
    const Token comma = lexer::next(text, at);
    if (at == start || (comma.form != TokenForm::end && !comma.is(","))) {
      b.diagnosis = diagnose(d.name, ": attributes are written name=value, separated by commas; found ", text);
      return b;
    }
    at = comma.form == TokenForm::end ? text.size() : comma.begin + 1;
  }
  notation::complete(d, b, partial);
  return b;
}

/// Binds run-time values. The strings of `attributes` must outlive the result.
[[nodiscard]] Bindings bind_attributes(const Definition& d, const Attributes& attributes);

/// The values as a map, in normalised form.
[[nodiscard]] Attributes to_attributes(const Definition& d, const Bindings& b);

/// The attributes that a text such as `axis=0` sets, as a map, each the nearest binary64 or integer it denotes.
/// \throws SpecViolation when they do not fit the definition.
[[nodiscard]] Attributes attributes_from_text(const Definition& d, std::string_view text);

}  // namespace etalon::spec
