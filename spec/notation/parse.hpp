/// \file
/// Definitions from their texts, at compile time and run time, and those of tag types. It knows no operation by name.
#pragma once

#include <string_view>

#include "spec/notation/definition.hpp"
#include "spec/notation/definition_parser.hpp"

namespace etalon::spec {

/// Parses a definition. Total: what is wrong with the text is in `diagnosis`. The text must outlive the result.
[[nodiscard]] constexpr Definition parse(std::string_view text) {
  Definition d;
  d.text = text;
  notation::DefinitionParser(d).run(true);
  return d;
}

/// The member of the definition's family that has this name; the name stands in messages and its row's rank is fixed.
[[nodiscard]] constexpr Definition member_of(Definition d, std::string_view name) {
  for (std::size_t i = 0; i < d.family_count; ++i) {
    if (d.at(d.family[i].name) != name) continue;
    d.name = name;
    d.family_rank = static_cast<std::int8_t>(d.family[i].rank);
    return d;
  }
  if (d.ok()) d.diagnosis = diagnose(d.name, ": its family has no member ", name);
  return d;
}

namespace notation {

/// Gives the calls of a definition what they call. `find` maps a name to a definition that stands before it, or nullptr.
template <class Find>
constexpr void link_calls(Definition& d, const Find& find) {
  for (std::size_t i = 0; i < d.clause_count && d.ok(); ++i) {
    const ClauseText& clause = d.clauses[i];
    if (clause.form != ClauseText::Form::call || d.callee(clause.value) != nullptr) continue;
    const std::size_t where = d[clause.value].text.begin;
    const Definition* callee = find(d.at(clause.value));
    if (callee == nullptr) {
      d.diagnosis = diagnose(d.name, ": no operation ", d.at(clause.value), " stands before this definition").at(d.text, where);
    } else if (d.callee_count == Definition::max_callees) {
      d.diagnosis = diagnose(d.name, ": calls more operations than a definition can").at(d.text, where);
    } else {
      d.callees[d.callee_count++] = callee;
    }
  }
}

}  // namespace notation

/// The text up to its first part.
[[nodiscard]] constexpr std::string_view without_parts(std::string_view text) {
  for (const std::string_view line : {"\n  also\n", "\n  jvp\n", "\n  vjp\n"}) {
    const std::size_t at = text.find(line);
    if (at != std::string_view::npos) text = text.substr(0, at + 1);
  }
  return text;
}

template <class Op>
[[nodiscard]] constexpr Definition parsed(std::string_view text = Op::text);

/// What the definition of a tag type means, parsed only where it is used. Its parts are no business of the compiler: they
/// would only cost it steps, of which clang 14 grants a million.
template <class Op>
inline constexpr Definition definition_of = parsed<Op>(without_parts(Op::text));

namespace notation {

/// The definition of that name among those of some tag types.
template <template <class...> class List, class... Ops>
[[nodiscard]] constexpr const Definition* find_among(List<Ops...>, std::string_view name) {
  const Definition* found = nullptr;
  ((found = definition_of<Ops>.name == name ? &definition_of<Ops> : found), ...);
  return found;
}

}  // namespace notation

/// A tag type with a `text`, with a `member` where the text defines a family, and with a list `calls` of tag types where
/// the definition calls other operations.
template <class Op>
[[nodiscard]] constexpr Definition parsed(std::string_view text) {
  Definition d = parse(text);
  if constexpr (requires { Op::member; }) d = member_of(d, Op::member);
  notation::link_calls(d, [](std::string_view name) -> const Definition* {
    if constexpr (requires { typename Op::calls; }) return notation::find_among(typename Op::calls{}, name);
    else return (void)name, nullptr;
  });
  return d;
}

}  // namespace etalon::spec
