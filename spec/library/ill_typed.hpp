/// \file
/// How an ill-typed call becomes a compile error that quotes the definition: the diagnosis is computed at compile time
/// and made part of a type's name, which every compiler prints.
#pragma once

#include <cstddef>
#include <utility>

#include "spec/notation/diagnosis.hpp"

namespace etalon::spec {

template <class T>
inline constexpr bool never = false;

#if defined(__clang__)
// clang prints a text as a template argument as numbers, and a pack of characters as characters.
template <char... message>
struct ill_typed {
  static_assert(never<ill_typed>, "ill-typed call: the characters of ill_typed<...> say why");
};
template <Diagnosis diagnosis>
struct report {
  template <std::size_t... I>
  static ill_typed<diagnosis.text[I]...> spell(std::index_sequence<I...>);
  static constexpr bool failed = sizeof(decltype(spell(std::make_index_sequence<diagnosis.size>{}))) == 0;
};
#else
template <std::size_t N>
struct Message {
  char text[N + 1] = {};
  constexpr explicit Message(const Diagnosis& d) {
    for (std::size_t i = 0; i < N; ++i) text[i] = d.text[i];
  }
};
template <Message message>
struct ill_typed {
  static_assert(never<ill_typed<message>>, "ill-typed call: the text of ill_typed<...> says why");
};
template <Diagnosis diagnosis>
struct report {
  static constexpr bool failed = sizeof(ill_typed<Message<diagnosis.size>(diagnosis)>) == 0;
};
#endif

}  // namespace etalon::spec
