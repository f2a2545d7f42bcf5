/// \file
/// One row per operation and attribute set: the same call through shapes as types and through shapes as values must
/// give the same shapes, the same bits, and for its ill-typed twin the same words.
#pragma once

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <catch2/catch.hpp>
#include <string>

#include "reference/tensor.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::test {

namespace hana = boost::hana;
using reference::Array;
using reference::Tensor;

template <std::int64_t... E>
using R = Tensor<double, Shape<E...>>;
template <std::int64_t... E>
using I = Tensor<std::int64_t, Shape<E...>>;
template <std::int64_t... E>
using B = Tensor<bool, Shape<E...>>;

template <class... Args>
struct Operands {};

/// A call of `Op`, well typed with `Good` and ill typed with `Bad`.
template <class Op, spec::FixedText text, class Good, class Bad, spec::FixedText bad_text>
struct Row {};

template <spec::FixedText text = "", spec::FixedText bad_text = text, class Op, spec::FixedText plain, class Good, class Bad>
[[nodiscard]] constexpr Row<Op, text, Good, Bad, bad_text> row(const spec::Operation<Op, plain>&, Good, Bad) {
  return {};
}

/// Distinct values that are small, of both signs and not dyadic throughout; indices stay small.
template <class A>
[[nodiscard]] A filled(int& next) {
  if constexpr (reference::is_tensor<A>) {
    A a;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const int v = next++;
      if constexpr (reference::is_real_element<typename A::Element>) {
        a.set(i, (v * 7 % 11 - 4) / 3.0 + 2.0);
      } else {
        a.set(i, static_cast<typename A::Element>(v % 2));
      }
    }
    return a;
  } else {
    return A{};
  }
}
template <class... Ts>
[[nodiscard]] hana::tuple<Ts...> filled_pack(hana::tuple<Ts...>, int& next) {
  return hana::tuple<Ts...>{filled<Ts>(next)...};
}

struct RuntimeCall {
  std::vector<std::optional<spec::ValueType>> types;
  std::vector<std::size_t> packs;
  std::vector<Array<double>> values;

  template <class A>
  void add(const A& argument) {
    if constexpr (reference::is_tensor<A>) {
      types.push_back(A::type);
      values.push_back(argument.array());
    } else if constexpr (std::is_same_v<A, spec::Absent>) {
      types.push_back(std::nullopt);
    } else {
      std::size_t members = 0;
      hana::for_each(argument, [&](const auto& member) {
        add(member);
        ++members;
      });
      packs.push_back(members);
    }
  }
};

inline void same(const Array<double>& typed, const Array<double>& untyped, std::size_t& compared) {
  CHECK(typed.kind == untyped.kind);
  CHECK(typed.dims == untyped.dims);
  CHECK(typed.integer == untyped.integer);
  REQUIRE(typed.real.size() == untyped.real.size());
  for (std::size_t i = 0; i < typed.real.size(); ++i) {
    const bool both_nan = typed.real[i] != typed.real[i] && untyped.real[i] != untyped.real[i];
    CHECK((both_nan || typed.real[i] == untyped.real[i]));
  }
  compared += typed.size();
}

template <class A>
[[nodiscard]] A argument(int& next) {
  if constexpr (reference::is_tensor<A> || std::is_same_v<A, spec::Absent>) {
    return filled<A>(next);
  } else {
    return filled_pack(A{}, next);
  }
}

template <class Op, spec::FixedText text, class... Good>
[[nodiscard]] std::size_t check_same_values(const Good&... good) {
  const auto typed = spec::Operation<Op, text>{}(good...);
  RuntimeCall call;
  (call.add(good), ...);
  const spec::Definition& d = spec::definition_named(spec::definition_of<Op>.name);
  const auto untyped = reference::call_operation<double>(d, call.types, call.packs, text.view(), {}, call.values);
  std::size_t compared = 0;
  std::size_t next = 0;
  if constexpr (reference::is_tensor<std::decay_t<decltype(typed)>>) {
    same(typed.array(), untyped.at(next++), compared);
  } else {
    hana::for_each(typed, [&](const auto& t) { same(t.array(), untyped.at(next++), compared); });
  }
  CHECK(next == untyped.size());
  return compared;
}

template <class Op, spec::FixedText text, class... Bad>
void check_same_words(const Bad&... bad) {
  constexpr spec::Diagnosis diagnosis = reference::TypedCall<Op, text, Bad...>::typing.diagnosis;
  static_assert(!diagnosis.ok(), "the twin is ill typed");
  RuntimeCall call;
  (call.add(bad), ...);
  const spec::Definition& d = spec::definition_named(spec::definition_of<Op>.name);
  std::string words = "accepted";
  try {
    (void)reference::call_operation<double>(d, call.types, call.packs, text.view(), {}, call.values);
  } catch (const SpecViolation& e) {
    words = e.what();
  }
  CHECK(words == std::string(diagnosis.message()));
}

template <class Op, spec::FixedText text, class... Good, class... Bad, spec::FixedText bad_text>
void check(Row<Op, text, Operands<Good...>, Operands<Bad...>, bad_text>) {
  INFO(spec::definition_of<Op>.name << "(" << text.view() << ")");
  int next = 0;
  // Braces fix the order in which the values are drawn.
  const hana::tuple<Good...> good{argument<Good>(next)...};
  const std::size_t compared = hana::unpack(good, [](const auto&... g) { return check_same_values<Op, text>(g...); });
  CHECK(compared > 0);
  check_same_words<Op, bad_text>(Bad{}...);
}

template <class Rows>
void check_all(const Rows& rows) {
  hana::for_each(rows, [](auto r) { check(r); });
}

}  // namespace etalon::test
