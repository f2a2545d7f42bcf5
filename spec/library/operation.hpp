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

/// Text as a template argument: `softmax.with<"axis=0">(x)`.
template <std::size_t N>
struct FixedText {
  char characters[N] = {};
  constexpr FixedText(const char (&text)[N]) {  // NOLINT: conversion from a literal is the purpose
    for (std::size_t i = 0; i < N; ++i) characters[i] = text[i];
  }
  [[nodiscard]] constexpr std::string_view view() const { return {characters, N - 1}; }
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
  static constexpr std::string_view text_attributes() { return text.view(); }
  static constexpr const Definition& definition() { return definition_of<Op>; }

  Attributes attributes;  ///< set at run time; they win over the text
  SourceLine where;
};

/// A call whose attributes are partly set at run time.
template <class Op, FixedText text>
class ConfiguredOperation {
 public:
  ConfiguredOperation(Attributes attributes, SourceLine where) : call_{std::move(attributes), where} {}

  [[nodiscard]] ConfiguredOperation set(std::string_view name, AttributeValue value) const {
    ConfiguredOperation copy = *this;
    copy.call_.attributes.insert_or_assign(std::string(name), std::move(value));
    return copy;
  }
  template <class... Args>
  auto operator()(const Args&... args) const {
    return apply_operation(call_, args...);
  }

 private:
  OperationCall<Op, text> call_;
};

/// The callable object of an operation: `relu(x)`, `sum.with<"axes=[0]">(x)`, `sgd.set("lr", 0.1)(p, g, m, t)`.
/// The source line of a call is that of `with`, `set` or `at`; a world that wants the line of a plain call takes it from
/// its arguments.
template <class Op, FixedText text = "">
struct Operation {
  using operation = Op;

  template <FixedText more>
  [[nodiscard]] constexpr Operation<Op, more> with() const {
    return {};
  }
  [[nodiscard]] ConfiguredOperation<Op, text> set(std::string_view name, AttributeValue value,
                                                  SourceLine where = SourceLine::current()) const {
    return ConfiguredOperation<Op, text>({}, where).set(name, std::move(value));
  }
  /// The same operation, its calls labelled with this source line.
  [[nodiscard]] ConfiguredOperation<Op, text> at(SourceLine where = SourceLine::current()) const { return {{}, where}; }

  template <class... Args>
  auto operator()(const Args&... args) const {
    return apply_operation(OperationCall<Op, text>{}, args...);
  }
};

}  // namespace etalon::spec
