/// \file
/// Calls of the library's operations on typed tensors: the result's type is computed by the typing code of the
/// notation, at compile time, and a mismatch is a compile error with the definition's own words. Behind it stands one
/// untyped evaluator; nothing is instantiated per shape but this edge.
#pragma once

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <string_view>

#include "reference/call.hpp"
#include "reference/ill_typed.hpp"
#include "reference/typed_tensor.hpp"
#include "spec/library/operation.hpp"
#include "spec/notation/typing.hpp"

namespace etalon::reference {

namespace hana = boost::hana;

// --- what an argument contributes to the call ---

template <class A>
struct Argument;

/// Writes the types of a call's operands one after the other.
struct TypeWriter {
  std::optional<spec::ValueType>* next;
  spec::Range range = spec::Range::real;  ///< of the operand that comes next
  bool reals = true;                      ///< whether some operand of the call is a real tensor

  constexpr void add(std::optional<spec::ValueType> type) { *next++ = type; }
};

/// A plain number is what the operand asks for; where that is open, an integer stays one only among integers.
template <PlainNumber A>
[[nodiscard]] constexpr DType dtype_of_plain(spec::Range range, bool reals) {
  if (std::is_same_v<A, bool>) return DType::boolean;
  if (range == spec::Range::integer) return DType::i64;
  const bool open = range == spec::Range::number || range == spec::Range::any;
  return std::is_integral_v<A> && open && !reals ? DType::i64 : DType::f64;
}

template <class T, class S>
struct Argument<Tensor<T, S>> {
  static constexpr bool tensors = true;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = std::conditional_t<is_real_element<T>, T, void>;
  static constexpr void add_types(TypeWriter& to) { to.add(Tensor<T, S>::type); }
};
template <PlainNumber A>
struct Argument<A> {
  static constexpr bool tensors = false;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = void;
  static constexpr void add_types(TypeWriter& to) {
    to.add(spec::ValueType{dtype_of_plain<A>(to.range, to.reals), {}});
  }
};
template <>
struct Argument<spec::Absent> {
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
struct Argument<hana::tuple<Ts...>> {
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
constexpr void write_types(std::optional<spec::ValueType>* to) {
  constexpr const spec::Definition& d = spec::definition_of<Op>;
  TypeWriter writer{to};
  writer.reals = !std::is_void_v<typename detail::FirstReal<typename Argument<Args>::Real...>::type>;
  std::size_t operand = 0;
  [[maybe_unused]] const auto write = [&](auto add) {
    writer.range = operand < d.operand_count ? d.operands[operand].range : spec::Range::real;
    ++operand;
    add(writer);
  };
  (write([](TypeWriter& w) { Argument<Args>::add_types(w); }), ...);
}

/// The number type of a call: that of its real operands, double where there are none.
template <class... Args>
struct NumberOf {
  using First = typename detail::FirstReal<typename Argument<Args>::Real...>::type;
  using type = std::conditional_t<std::is_void_v<First>, double, First>;
};

// --- typing at compile time ---

/// The text of the attributes, with a stand-in for each required real one that is set at run time: no type depends on it.
template <class Op, spec::FixedText text>
struct TypingText {
  static constexpr std::size_t capacity = 512;
  char characters[capacity] = {};
  std::size_t size = 0;

  constexpr TypingText() {
    const spec::Definition& d = spec::definition_of<Op>;
    add(text.view());
    for (std::size_t i = 0; i < d.attribute_count; ++i) {
      const spec::AttributeText& a = d.attributes[i];
      if (a.kind != spec::AttributeKind::real || a.has_default || mentions(d.at(a.name))) continue;
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
    for (spec::Token t = spec::lexer::next(all, at); t.form != spec::TokenForm::end; t = spec::lexer::next(all, at)) {
      if (t.text == name) return true;
      at = t.begin + (t.text.empty() ? 1 : t.text.size());
    }
    return false;
  }
};

template <class Op, spec::FixedText text, bool configured>
struct AttributeTextOf {
  static constexpr TypingText<Op, text> stand_ins{};
  static constexpr std::string_view value() { return configured ? stand_ins.view() : text.view(); }
};

/// What the typing of a call comes to, small enough to be kept per call.
struct CallTyping {
  spec::Diagnosis diagnosis;
  spec::ValueType results[spec::Typing::max_results] = {};
  std::size_t result_count = 0;
};

template <class Op, spec::FixedText text, class... Args>
[[nodiscard]] constexpr CallTyping type_of_call() {
  constexpr std::size_t slots = (Argument<Args>::slots + ... + 0);
  std::optional<spec::ValueType> operands[slots + 1] = {};
  write_types<Op, Args...>(operands);
  std::size_t packs[sizeof...(Args) + 1] = {};
  std::size_t pack_count = 0;
  ((Argument<Args>::pack ? void(packs[pack_count++] = Argument<Args>::slots) : void()), ...);
  const spec::Typing typing = spec::type_call(
      spec::definition_of<Op>, std::span<const std::optional<spec::ValueType>>(operands, slots),
      std::span<const std::size_t>(packs, pack_count),
      spec::bind_attributes(spec::definition_of<Op>, AttributeTextOf<Op, text, true>::value()));
  CallTyping result;
  result.diagnosis = typing.diagnosis;
  result.result_count = typing.result_count;
  for (std::size_t i = 0; i < typing.result_count; ++i) result.results[i] = typing.results[i];
  return result;
}

/// The element type of a result over a number type.
template <DType dtype, class Number>
using ElementFor = std::conditional_t<
    kind_of(dtype) == Kind::real, Number,
    std::conditional_t<dtype == DType::boolean, bool, std::conditional_t<dtype == DType::i32, std::int32_t, std::int64_t>>>;

// --- values ---

namespace detail {

template <class To, class From>
[[nodiscard]] Array<To> converted(const Array<From>& from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else {
    // Only integers and truth values, which no number type touches.
    Array<To> to(from.kind, from.dims);
    to.integer = from.integer;
    return to;
  }
}

template <class Number, PlainNumber A>
[[nodiscard]] Number number_from(A plain) {
  if constexpr (requires { typename Number::Primal; }) {
    return Number(typename Number::Primal(plain));
  } else {
    return Number(plain);
  }
}

/// `types` stands at the argument's first type and moves on.
template <class Number, class A>
void add_value(std::vector<Array<Number>>& values, const std::optional<spec::ValueType>*& types, const A& argument) {
  if constexpr (!Argument<A>::pack) {
    const std::optional<spec::ValueType>& type = *types++;
    if constexpr (PlainNumber<A>) {
      const Kind kind = kind_of(type->dtype);
      values.push_back(kind == Kind::real ? Array<Number>::of_reals({}, {number_from<Number>(argument)})
                                          : Array<Number>::of_integers({}, {static_cast<std::int64_t>(argument)}, kind));
    }
  }
  if constexpr (is_tensor<A>) {
    static_assert(!is_real_element<typename A::Element> || std::is_same_v<typename A::Element, Number>,
                  "the real operands of a call are over one number type");
    values.push_back(converted<Number>(argument.array()));
  } else if constexpr (Argument<A>::pack) {
    hana::for_each(argument, [&](const auto& member) { add_value(values, types, member); });
  }
}

template <class R, class Number>
[[nodiscard]] R result_of(const Array<Number>& array) {
  return R(converted<typename R::Number>(array));
}

}  // namespace detail

/// The call as a type: what its typing says, and how untyped results become typed ones.
template <class Op, spec::FixedText text, class... Args>
struct TypedCall {
  using Number = typename NumberOf<Args...>::type;
  static constexpr CallTyping typing = type_of_call<Op, text, Args...>();
  static constexpr bool single = typing.result_count == 1 && !spec::definition_of<Op>.results[0].pack;

  template <std::size_t i>
  using Result = TensorOf<ElementFor<typing.results[i].dtype, Number>, typing.results[i].dims>;

  [[nodiscard]] static std::vector<Array<Number>> run(const spec::Attributes& attributes, const Args&... args) {
    std::vector<std::optional<spec::ValueType>> types((Argument<Args>::slots + ... + 0));
    write_types<Op, Args...>(types.data());
    std::vector<std::size_t> packs;
    ((Argument<Args>::pack ? packs.push_back(Argument<Args>::slots) : void()), ...);
    const std::optional<spec::ValueType>* type = types.data();
    std::vector<Array<Number>> values;
    (detail::add_value(values, type, args), ...);
    return call_operation<Number>(spec::definition_of<Op>, types, packs, text.view(), attributes, values);
  }

  template <std::size_t... I>
  [[nodiscard]] static auto typed(const std::vector<Array<Number>>& results, std::index_sequence<I...>) {
    if constexpr (single) {
      return detail::result_of<Result<0>>(results[0]);
    } else {
      return hana::make_tuple(detail::result_of<Result<I>>(results[I])...);
    }
  }
};

/// The world of reference tensors. One result comes as a tensor, several (and a pack of results) as a hana::tuple.
template <class Op, spec::FixedText text, class... Args>
  requires((CallArgument<Args> && ...) && (Argument<Args>::tensors || ...))
[[nodiscard]] auto apply_operation(const spec::OperationCall<Op, text>& call, const Args&... args) {
  using Typed = TypedCall<Op, text, Args...>;
  if constexpr (!Typed::typing.diagnosis.ok()) {
    static_assert(!report<Typed::typing.diagnosis>::failed);
    return Tensor<typename Typed::Number, Shape<>>();
  } else {
    return Typed::typed(Typed::run(call.attributes, args...), std::make_index_sequence<Typed::typing.result_count>{});
  }
}

}  // namespace etalon::reference
