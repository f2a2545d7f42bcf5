/// \file
/// The typing of a call of the library at compile time, for worlds whose values carry their types: what an argument
/// contributes, and what the call comes to, by the one typing code of the notation. It knows no world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "spec/dtype.hpp"
#include "spec/library/operation.hpp"
#include "spec/notation/typing.hpp"
#include "spec/plain_number.hpp"
#include "spec/value_type.hpp"

namespace boost::hana {
template <typename... Xn>
struct tuple;
}  // namespace boost::hana

namespace etalon::spec {

// --- what an argument contributes to the call ---

/// A world specialises it for its tensors: `tensors` (whether it has any), `slots` (operands it fills), `pack`, `Real` (its
/// real number type or void) and `add_types(TypeWriter&)`. A hana::tuple is a pack.
template <class A>
struct Argument;

/// Writes the types of a call's operands one after the other.
struct TypeWriter {
  std::optional<ValueType>* next;
  Range range = Range::real;              ///< of the operand that comes next
  bool reals = true;                      ///< whether some operand of the call is a real tensor
  DType real = DType::f64;                ///< what a plain real number is beside these tensors

  constexpr void add(std::optional<ValueType> type) { *next++ = type; }
};

/// A plain number is what the operand asks for; where that is open, an integer stays one only among integers.
template <PlainNumber A>
[[nodiscard]] constexpr DType dtype_of_plain(Range range, bool reals, DType real) {
  if (std::is_same_v<A, bool>) return DType::boolean;
  if (range == Range::integer) return DType::i64;
  const bool open = range == Range::number || range == Range::any;
  return std::is_integral_v<A> && open && !reals ? DType::i64 : real;
}

template <PlainNumber A>
struct Argument<A> {
  static constexpr bool tensors = false;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = void;
  static constexpr void add_types(TypeWriter& to) {
    to.add(ValueType{dtype_of_plain<A>(to.range, to.reals, to.real), {}});
  }
};
template <>
struct Argument<Absent> {
  static constexpr bool tensors = false;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = void;
  static constexpr void add_types(TypeWriter& to) { to.add(std::nullopt); }
};

namespace detail {
/// The first real number type of a list, or void.
template <class... Rs>
struct FirstReal {
  using type = void;
};
template <class R, class... Rs>
struct FirstReal<R, Rs...> {
  using type = std::conditional_t<std::is_void_v<R>, typename FirstReal<Rs...>::type, R>;
};
}  // namespace detail

template <class... Ts>
struct Argument<boost::hana::tuple<Ts...>> {
  static constexpr bool tensors = (Argument<Ts>::tensors || ... || false);
  static constexpr std::size_t slots = sizeof...(Ts);
  static constexpr bool pack = true;
  using Real = typename detail::FirstReal<typename Argument<Ts>::Real...>::type;
  static constexpr void add_types(TypeWriter& to) { (Argument<Ts>::add_types(to), ...); }
};

template <class A>
concept CallArgument = requires { Argument<A>::slots; };

/// Writes the types of all operands of a call of `Op`.
template <class Op, class... Args>
constexpr void write_types(std::optional<ValueType>* to) {
  constexpr const Definition& d = definition_of<Op>;
  TypeWriter writer{to};
  using First = typename detail::FirstReal<typename Argument<Args>::Real...>::type;
  writer.reals = !std::is_void_v<First>;
  if constexpr (std::is_same_v<First, float>) writer.real = DType::f32;
  std::size_t operand = 0;
  [[maybe_unused]] const auto write = [&](auto add) {
    writer.range = operand < d.operand_count ? d.operands[operand].range : Range::real;
    ++operand;
    add(writer);
  };
  (write([](TypeWriter& w) { Argument<Args>::add_types(w); }), ...);
}

// --- typing at compile time ---

/// The text of the attributes, with a stand-in for each required real one that is set at run time: no type depends on it.
template <class Op, FixedText text>
struct TypingText {
  static constexpr std::size_t capacity = 512;
  char characters[capacity] = {};
  std::size_t size = 0;

  constexpr TypingText() {
    const Definition& d = definition_of<Op>;
    add(text.view());
    for (std::size_t i = 0; i < d.attribute_count; ++i) {
      const AttributeText& a = d.attributes[i];
      if (a.kind != AttributeKind::real || a.has_default || mentions(d.at(a.name))) continue;
      if (size > 0) add(", ");
      add(d.at(a.name));
      add("=0.0");
    }
  }
  [[nodiscard]] constexpr std::string_view view() const { return {characters, size}; }

 private:
  constexpr void add(std::string_view part) {
    for (const char c : part) {
      if (size + 1 < capacity) characters[size++] = c;
    }
  }
  static constexpr bool mentions(std::string_view name) {
    const std::string_view all = text.view();
    std::size_t at = 0;
    for (Token t = lexer::next(all, at); t.form != TokenForm::end; t = lexer::next(all, at)) {
      if (t.text == name) return true;
      at = t.begin + (t.text.empty() ? 1 : t.text.size());
    }
    return false;
  }
};

template <class Op, FixedText text, bool configured>
struct AttributeTextOf {
  static constexpr TypingText<Op, text> stand_ins{};
  static constexpr std::string_view value() { return configured ? stand_ins.view() : text.view(); }
};

/// What the typing of a call comes to, small enough to be kept per call.
struct CallTyping {
  Diagnosis diagnosis;
  ValueType results[Typing::max_results] = {};
  std::size_t result_count = 0;
};

template <class Op, FixedText text, class... Args>
[[nodiscard]] constexpr CallTyping type_of_call() {
  constexpr std::size_t slots = (Argument<Args>::slots + ... + 0);
  std::optional<ValueType> operands[slots + 1] = {};
  write_types<Op, Args...>(operands);
  std::size_t packs[sizeof...(Args) + 1] = {};
  std::size_t pack_count = 0;
  ((Argument<Args>::pack ? void(packs[pack_count++] = Argument<Args>::slots) : void()), ...);
  const Typing typing = type_call(
      definition_of<Op>, std::span<const std::optional<ValueType>>(operands, slots),
      std::span<const std::size_t>(packs, pack_count),
      bind_attributes(definition_of<Op>, AttributeTextOf<Op, text, true>::value()));
  CallTyping result;
  result.diagnosis = typing.diagnosis;
  result.result_count = typing.result_count;
  for (std::size_t i = 0; i < typing.result_count; ++i) result.results[i] = typing.results[i];
  return result;
}

}  // namespace etalon::spec
