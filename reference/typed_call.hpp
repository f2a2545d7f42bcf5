/// \file
/// Calls of the library's operations on typed tensors: the result's type is computed by the typing code of the
/// notation, at compile time, and a mismatch is a compile error with the definition's own words. Behind it stands one
/// untyped evaluator; nothing is instantiated per shape but this edge.
#pragma once

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <string_view>

#include "reference/call.hpp"
#include "reference/typed_tensor.hpp"
#include "spec/library/call_typing.hpp"
#include "spec/library/ill_typed.hpp"

namespace etalon::spec {

template <class T, class S>
struct Argument<reference::Tensor<T, S>> {
  static constexpr bool tensors = true;
  static constexpr std::size_t slots = 1;
  static constexpr bool pack = false;
  using Real = std::conditional_t<reference::is_real_element<T>, T, void>;
  static constexpr void add_types(TypeWriter& to) { to.add(reference::Tensor<T, S>::type); }
};

}  // namespace etalon::spec

namespace etalon::reference {

namespace hana = boost::hana;

using spec::Argument;
using spec::CallArgument;
using spec::TypeWriter;

/// The number type of a call: that of its real operands, double where there are none.
template <class... Args>
struct NumberOf {
  using First = typename spec::detail::FirstReal<typename Argument<Args>::Real...>::type;
  using type = std::conditional_t<std::is_void_v<First>, double, First>;
};

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
  static constexpr spec::CallTyping typing = spec::type_of_call<Op, text, Args...>();
  static constexpr bool single = typing.result_count == 1 && !spec::definition_of<Op>.results[0].pack;

  template <std::size_t i>
  using Result = TensorOf<ElementFor<typing.results[i].dtype, Number>, typing.results[i].dims>;

  [[nodiscard]] static std::vector<Array<Number>> run(const spec::Attributes& attributes, const Args&... args) {
    std::vector<std::optional<spec::ValueType>> types((Argument<Args>::slots + ... + 0));
    spec::write_types<Op, Args...>(types.data());
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
    static_assert(!spec::report<Typed::typing.diagnosis>::failed);
    return Tensor<typename Typed::Number, Shape<>>();
  } else {
    return Typed::typed(Typed::run(call.attributes, args...), std::make_index_sequence<Typed::typing.result_count>{});
  }
}

}  // namespace etalon::reference
