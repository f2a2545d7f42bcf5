/// \file
/// Operations as callable objects: one lambda over them runs in every world, because a call is handed to the world of
/// its arguments. It knows no world.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "spec/attribute.hpp"
#include "spec/notation/parse.hpp"
#include "spec/source_line.hpp"

namespace etalon::spec {

/// The operations of one header, by their tag types. The library adds the members of the families among them.
template <class... Ops>
struct OperationList {};

/// Text as a template argument: `softmax.with<"axis=0">(x)`.
template <std::size_t N>
struct FixedText {
  char characters[N] = {};
  constexpr FixedText(const char (&text)[N]) {  // NOLINT: conversion from a literal is the purpose
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {characters, N - 1}; }
};

/// The tag type of a member of the family that a text defines: `Operation<Member<ConvText, "conv2d">>`.
template <class Family, FixedText name>
struct Member {
  static constexpr std::string_view text = Family::text;
  static constexpr std::string_view member = name.view();
};

/// Stands where an optional operand is left out.
struct Absent {};
inline constexpr Absent absent{};

/// What a world needs to know of a call: the definition, the attributes fixed at compile time as text, and those set
/// at run time. A world defines, for its own argument types,
/// `auto apply_operation(const OperationCall<Op, text>& call, const Args&... args)`; it is found by argument-dependent
/// lookup. Members of a pack stand in order among the arguments; `absent` stands for an optional operand.
template <class Op, FixedText text>
struct OperationCall {
  using operation = Op;
  static constexpr const Definition& definition() { return definition_of<Op>; }

  Attributes attributes;  ///< set at run time; they win over the text
  SourceLine where;
};

/// Gives a callable with `call(where, args…)` the call operator that also captures the caller's source line: a
/// default argument cannot follow a parameter pack, so there is one overload per number of arguments.
template <class Derived>
class CallAtLine {
 public:
  template <class A>
  auto operator()(const A& a, SourceLine where = SourceLine::current()) const {
    return self().call(where, a);
  }
  template <class A, class B>
  auto operator()(const A& a, const B& b, SourceLine where = SourceLine::current()) const {
    return self().call(where, a, b);
  }
  template <class A, class B, class C>
  auto operator()(const A& a, const B& b, const C& c, SourceLine where = SourceLine::current()) const {
    return self().call(where, a, b, c);
  }
  template <class A, class B, class C, class D>
  auto operator()(const A& a, const B& b, const C& c, const D& d, SourceLine where = SourceLine::current()) const {
    return self().call(where, a, b, c, d);
  }
  template <class A, class B, class C, class D, class E>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e,
                  SourceLine where = SourceLine::current()) const {
    return self().call(where, a, b, c, d, e);
  }
  template <class A, class B, class C, class D, class E, class F>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f,
                  SourceLine where = SourceLine::current()) const {
    return self().call(where, a, b, c, d, e, f);
  }
  /// Seven arguments and more carry the line of `set` or `at` only.
  template <class A, class B, class C, class D, class E, class F, class G, class... More>
  auto operator()(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g,
                  const More&... more) const {
    return self().call(SourceLine{}, a, b, c, d, e, f, g, more...);
  }

 private:
  [[nodiscard]] const Derived& self() const { return static_cast<const Derived&>(*this); }
};

/// A call whose attributes are partly set at run time.
template <class Op, FixedText text>
class ConfiguredOperation : public CallAtLine<ConfiguredOperation<Op, text>> {
 public:
  ConfiguredOperation(Attributes attributes, SourceLine where) : call_{std::move(attributes), where} {}

  [[nodiscard]] ConfiguredOperation set(std::string_view name, AttributeValue value) const {
    ConfiguredOperation copy = *this;
    copy.call_.attributes.insert_or_assign(std::string(name), std::move(value));
    return copy;
  }
  template <class... Args>
  auto call(SourceLine where, const Args&... args) const {
    OperationCall<Op, text> at_line = call_;
    if (where.line != 0 && call_.where.line == 0) at_line.where = where;
    return apply_operation(at_line, args...);
  }

 private:
  OperationCall<Op, text> call_;
};

/// The callable object of an operation: `relu(x)`, `sum.with<"axes=[0]">(x)`, `sgd.set("lr", 0.1)(p, g, m, t)`.
/// The source line of a call is that of `set` or `at` where there is one, else that of the call itself.
template <class Op, FixedText text = "">
struct Operation : CallAtLine<Operation<Op, text>> {
  using operation = Op;

  /// The same operation with these attributes.
  template <FixedText more>
  static constexpr Operation<Op, more> with{};
  [[nodiscard]] ConfiguredOperation<Op, text> set(std::string_view name, AttributeValue value,
                                                  SourceLine where = SourceLine::current()) const {
    return ConfiguredOperation<Op, text>({}, where).set(name, std::move(value));
  }
  /// The same operation, its calls labelled with this source line.
  [[nodiscard]] ConfiguredOperation<Op, text> at(SourceLine where = SourceLine::current()) const { return {{}, where}; }

  template <class... Args>
  auto call(SourceLine where, const Args&... args) const {
    return apply_operation(OperationCall<Op, text>{{}, where}, args...);
  }
};

}  // namespace etalon::spec
