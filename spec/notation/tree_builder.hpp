/// \file
/// What every rule of the parser stands on: the token at hand, the tree that grows, and what was wrong first. It knows
/// no rule of the grammar.
#pragma once

#include <string_view>

#include "spec/notation/definition.hpp"
#include "spec/notation/lexer.hpp"

namespace etalon::spec::notation {

class TreeBuilder {
 protected:
  constexpr explicit TreeBuilder(Definition& into) : d_(into) {
    if (d_.text.size() > 60000) {
      fail("the text is longer than a definition can be");
    } else {
      advance();
    }
  }

  // --- tokens ---

  constexpr bool failed() const { return !d_.diagnosis.ok(); }
  constexpr void advance() {
    if (failed()) return;
    last_end_ = token_.begin + token_.text.size();
    token_ = lexer::next(d_.text, last_end_);
    if (token_.form == TokenForm::bad) fail("a character that the notation does not have");
  }
  constexpr bool accept(std::string_view wanted) {
    if (!token_.is(wanted)) return false;
    advance();
    return true;
  }
  constexpr void expect(std::string_view wanted) {
    if (accept(wanted) || failed()) return;
    begin_diagnosis().add("expected '").add(wanted).add("', found ");
    finish_diagnosis(token_.begin);
  }
  constexpr Slice take() {
    const Slice s = slice_of(token_);
    advance();
    return s;
  }
  constexpr Slice take_name(std::string_view what) {
    check_mark();
    if (token_.form == TokenForm::name) return take();
    if (!failed()) {
      begin_diagnosis().add("expected ").add(what).add(", found ");
      finish_diagnosis(token_.begin);
    }
    return {};
  }
  constexpr void fail(std::string_view rule) {
    if (failed()) return;
    begin_diagnosis().add(rule).add("; found ");
    finish_diagnosis(token_.begin);
  }
  constexpr void fail_at(Slice where, std::string_view rule) {
    if (failed()) return;
    begin_diagnosis().add(rule).add("; found '").add(d_.at(where)).add("'").at(d_.text, where.begin);
    token_ = {};
  }
  /// Tangents and cotangents stand in the parts that state derivatives.
  constexpr void check_mark() {
    if (token_.form == TokenForm::name && lexer::is_mark(token_.text.back()) && token_.text.back() != mark_)
      fail(mark_ == '~' ? "a vjp part speaks of cotangents" : mark_ == '\'' ? "a jvp part speaks of tangents"
                                                          : "tangents and cotangents stand in jvp and vjp parts");
  }
  constexpr void check_number() {
    std::int64_t whole = 0;
    const bool within = lexer::is_within_limits(token_.text);
    if (failed() || (within && (!lexer::is_whole(token_.text) || lexer::integer_of(token_.text, whole)))) return;
    // Not quoted: it may be longer than a line.
    begin_diagnosis().add(within ? "an integer has 64 bits, and a real beyond them a point, as in 18446744073709551616.0"
                                 : "a number has at most 1000 digits and an exponent from -999 to 999");
    d_.diagnosis.at(d_.text, token_.begin);
    token_ = {};
    token_.begin = d_.text.size();
  }
  static constexpr Slice slice_of(const Token& t) {
    return {static_cast<std::uint16_t>(t.begin), static_cast<std::uint16_t>(t.text.size())};
  }
  constexpr Slice slice_from(std::size_t begin) const {
    return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(last_end_ > begin ? last_end_ - begin : 0)};
  }

  // --- the tree ---

  constexpr NodeId node(NodeForm form, std::uint8_t op = 0) {
    if (failed()) return -1;
    if (d_.node_count == Definition::max_nodes) {
      fail("the definition is larger than the notation's limit of 1024 nodes");
      return -1;
    }
    NodeText& n = d_.nodes[d_.node_count];
    n.form = form;
    n.op = op;
    n.text = slice_of(token_);
    return static_cast<NodeId>(d_.node_count++);
  }
  /// A node whose text starts where that of `start` does.
  constexpr NodeId node_from(NodeForm form, NodeId start) {
    const NodeId n = node(form);
    if (n >= 0 && start >= 0) d_.nodes[n].text.begin = d_.nodes[start].text.begin;
    return n;
  }
  /// Ends the text of a node at the last token.
  constexpr NodeId close(NodeId n) {
    if (failed() || n < 0) return -1;
    d_.nodes[n].text = slice_from(d_.nodes[n].text.begin);
    return n;
  }
  /// Adds a child, and the nodes chained to it, after the children that there are.
  constexpr void append(NodeId parent, NodeId child) {
    if (failed() || parent < 0 || child < 0) return;
    NodeId* slot = &d_.nodes[parent].first;
    while (*slot >= 0) slot = &d_.nodes[*slot].next;
    *slot = child;
  }

  constexpr Diagnosis& begin_diagnosis() {
    return d_.diagnosis.add(d_.name.empty() ? std::string_view("definition") : d_.name).add(": ");
  }
  constexpr void finish_diagnosis(std::size_t where) {
    if (token_.form == TokenForm::end) d_.diagnosis.add("the end");
    else d_.diagnosis.add("'").add(token_.text).add("'");
    d_.diagnosis.at(d_.text, where);
    token_ = {};
    token_.begin = d_.text.size();
  }

  Definition& d_;
  Token token_;
  std::size_t last_end_ = 0;
  char mark_ = 0;  ///< that names may bear in this part
};

}  // namespace etalon::spec::notation
