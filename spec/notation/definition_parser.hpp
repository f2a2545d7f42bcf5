/// \file
/// The parser of a definition: one recursive descent for compile time and run time. It knows no operation by name and resolves no names.
#pragma once

#include <string_view>

#include "spec/notation/definition.hpp"
#include "spec/notation/expression_parser.hpp"

namespace etalon::spec::notation {

/// Parses a whole definition; the expressions are ExpressionParser's.
class DefinitionParser : public ExpressionParser {
 public:
  constexpr explicit DefinitionParser(Definition& into) : ExpressionParser(into) {}

  /// Reads one definition and, where it is not `alone`, stops at the next one.
  constexpr void run(bool alone) {
    d_.doc = leading_comment();
    signature();
    while (!failed() && token_.form != TokenForm::end && (alone || !at_definition())) clause();
  }

  /// Where the text that was read ends.
  constexpr std::size_t end() const { return token_.form == TokenForm::end ? d_.text.size() : last_end_; }

 private:
  /// A name and `(` begin a definition: no clause begins so.
  constexpr bool at_definition() const {
    return token_.form == TokenForm::name && !is_keyword(token_.text) &&
           lexer::next(d_.text, token_.begin + token_.text.size()).is("(");
  }

  constexpr std::string_view leading_comment() const {
    std::size_t begin = 0;
    while (begin < d_.text.size() && (d_.text[begin] == ' ' || d_.text[begin] == '\n')) ++begin;
    if (d_.text.substr(begin, 2) != "--") return {};
    std::size_t end = begin;
    while (end < d_.text.size() && d_.text[end] != '\n') ++end;
    begin += 2;
    while (begin < end && d_.text[begin] == ' ') ++begin;
    return d_.text.substr(begin, end - begin);
  }

  constexpr void signature() {
    d_.name = token_.form == TokenForm::name ? token_.text : std::string_view("definition");
    take_name("the name of the operation");
    expect("(");
    while (!failed() && !token_.is(")")) {
      operand();
      if (!accept(",")) break;
    }
    expect(")");
    if (accept("{")) {
      while (!failed() && !token_.is("}")) {
        attribute();
        if (!accept(",")) break;
      }
      expect("}");
    }
    expect("->");
    do result();
    while (!failed() && accept(","));
  }

  constexpr void operand() {
    if (d_.operand_count == Definition::max_operands) return fail("more operands than a definition can hold");
    OperandText o;
    o.name = take_name("the name of an operand");
    if (d_.operand_named(d_.at(o.name)) >= 0) return fail_at(o.name, "two operands have one name");
    o.pack = accept("#");
    of_operand_ = true;
    o.axes = optional_items();
    of_operand_ = false;
    o.optional = accept("?");
    if (accept(":")) o.range = range(o, false);
    d_.operands[d_.operand_count++] = o;
  }

  constexpr void result() {
    if (d_.result_count == Definition::max_results) return fail("more results than a definition can hold");
    OperandText r;
    r.name = take_name("the name of a result");
    r.pack = accept("#");
    r.axes = optional_items();
    r.range = Range::any;
    if (accept(":")) r.range = range(r, true);
    d_.results[d_.result_count++] = r;
  }

  constexpr NodeId optional_items() {
    if (!accept("[")) return -1;
    return items("]");
  }

  constexpr Range range(OperandText& o, bool of_result) {
    const Token name = token_;
    const Slice slice = take_name("an element kind");
    if (name.text == "int") return Range::integer;
    if (name.text == "bool") return Range::boolean;
    if (!of_result && name.text == "real") return Range::real;
    if (!of_result && name.text == "number") return Range::number;
    if (!of_result && name.text == "any") return Range::any;
    if (of_result && d_.attribute_named(name.text) >= 0) {
      o.dtype = slice;
      return Range::attribute;
    }
    fail_at(slice, of_result ? "a result is : int, : bool, or : the name of an attribute that is an element type"
                             : "an operand is : real, : int, : bool, : number or : any");
    return Range::real;
  }

  constexpr void attribute() {
    if (d_.attribute_count == Definition::max_attributes) return fail("more attributes than a definition can hold");
    AttributeText a;
    a.name = take_name("the name of an attribute");
    a.pack = accept("#");
    if (accept("[")) {
      a.row = token_.is("...") ? take() : (expect(".."), take_name("the name of a row"));
      expect("]");
    }
    bool known = false;
    if (accept(":")) {
      a.kind = attribute_kind();
      known = true;
    }
    if (accept("=")) default_value(a, known);
    else if (!known) a.kind = AttributeKind::real;
    if (a.row.length > 0 || a.pack) a.kind = AttributeKind::integers;
    d_.attributes[d_.attribute_count++] = a;
  }

  constexpr AttributeKind attribute_kind() {
    const Token name = token_;
    const Slice slice = take_name("the kind of an attribute");
    if (name.text == "int") return AttributeKind::integer;
    if (name.text == "real") return AttributeKind::real;
    if (name.text == "bool") return AttributeKind::boolean;
    if (name.text == "dtype") return AttributeKind::dtype;
    if (name.text == "axis") return AttributeKind::integer;
    if (name.text == "axes") return AttributeKind::axes;
    if (name.text == "value") return AttributeKind::value;
    fail_at(slice, "an attribute is : int, : real, : bool, : dtype, : axis, : axes or : value");
    return AttributeKind::real;
  }

  /// A default states the kind too: `0` integer, `0.0` real, `true`, `f32`, `all` or `reversed` (axes), `[1, 2]`,
  /// `a | b | c`, or the name of an earlier attribute.
  constexpr void default_value(AttributeText& a, bool known) {
    const std::size_t begin = token_.begin;
    a.has_default = true;
    AttributeKind kind = AttributeKind::integer;
    if (token_.is("[")) {
      kind = AttributeKind::integers;
      while (!failed() && !token_.is("]") && token_.form != TokenForm::end) advance();
      expect("]");
    } else {
      accept("-");
      if (token_.form == TokenForm::number) {
        kind = lexer::is_whole(token_.text) ? AttributeKind::integer : AttributeKind::real;
      } else if (token_.is("true") || token_.is("false")) {
        kind = AttributeKind::boolean;
      } else if (token_.is("inf")) {
        kind = AttributeKind::real;
      } else if (token_.is("all") || token_.is("reversed")) {
        kind = AttributeKind::axes;
      } else if (const int earlier = d_.attribute_named(token_.text); earlier >= 0) {
        a.same_as = static_cast<std::int8_t>(earlier);
        kind = d_.attributes[earlier].kind;
      } else {
        kind = dtype_named(token_.text) ? AttributeKind::dtype : AttributeKind::symbol;
        if (token_.form != TokenForm::name) return fail("a default is a number, true, false, a symbol or a list");
      }
      advance();
    }
    a.value = slice_from(begin);
    if (kind == AttributeKind::symbol && a.same_as < 0) {
      while (accept("|")) take_name("a symbol");
      a.choices = slice_from(begin);
    }
    if (a.same_as >= 0) a.choices = d_.attributes[a.same_as].choices;
    if (!known) a.kind = kind;
  }

  constexpr void clause() {
    if (token_.is("family")) return family();
    if (token_.is("also") || token_.is("jvp") || token_.is("vjp")) return part();
    if (d_.clause_count == Definition::max_clauses) return fail("more clauses than a definition can hold");
    ClauseText c;
    const std::size_t begin = token_.begin;
    if (accept("requires")) {
      c.form = ClauseText::Form::require;
      c.value = expression();
    } else if (accept("let")) {
      c.form = ClauseText::Form::let;
      c.target_row = token_.is("..") ? row() : name_node();
      expect("=");
      c.value = item_expression();
    } else {
      equation(c);
    }
    c.text = slice_from(begin);
    c.part = d_.part_count;
    if (c.part > 0 && c.form != ClauseText::Form::equation) return fail_at(c.text, "a part has equations only");
    d_.clauses[d_.clause_count++] = c;
  }

  /// The equations up to the next part are another algorithm, or one for a derivative.
  constexpr void part() {
    if (d_.part_count == Definition::max_parts) return fail("more parts than a definition can hold");
    const PartForm form = token_.is("also") ? PartForm::also : token_.is("jvp") ? PartForm::jvp : PartForm::vjp;
    d_.parts[d_.part_count++] = form;
    mark_ = form == PartForm::jvp ? '\'' : form == PartForm::vjp ? '~' : char{0};
    advance();
  }

  constexpr void equation(ClauseText& c) {
    if (is_keyword(token_.text)) return fail("a clause starts with a name, `let`, `requires` or `family`");
    c.target = take_name("the name of a result or local");
    if (token_.is(",")) return call_clause(c);
    if (accept("#")) c.tag = name_node();
    c.places = optional_items();
    if (accept("when")) c.when = expression();
    expect("=");
    if (c.tag < 0 && c.places < 0 && at_call()) {
      c.form = ClauseText::Form::call;
      c.value = operation_call();
    } else {
      c.value = expression();
    }
  }

  /// Several targets: only a call gives several results.
  constexpr void call_clause(ClauseText& c) {
    NodeId last = -1;
    while (!failed() && accept(",")) {
      const NodeId n = name_node();
      if (failed()) return;
      if (last < 0) c.places = n;
      else d_.nodes[last].next = n;
      last = n;
    }
    if (accept("when")) c.when = expression();
    expect("=");
    if (failed()) return;
    if (!at_call()) return fail("several results are those of one operation");
    c.form = ClauseText::Form::call;
    c.value = operation_call();
  }

  /// A name that is no function of the notation, and `(`.
  constexpr bool at_call() const {
    const std::string_view name = token_.text;
    if (token_.form != TokenForm::name || is_keyword(name) || builtin_named(name) || primitive_named(name)) return false;
    return lexer::next(d_.text, token_.begin + name.size()).is("(");
  }

  /// `f(x, y#, _) {a = 1, b = [0, n]}`.
  constexpr NodeId operation_call() {
    const NodeId n = node(NodeForm::call);
    advance();
    expect("(");
    while (!failed() && !token_.is(")")) {
      const NodeId operand = name_node();
      if (!failed() && accept("#")) d_.nodes[operand].form = NodeForm::pack_name;
      append(n, operand);
      if (!accept(",")) break;
    }
    expect(")");
    if (!accept("{")) return n;
    while (!failed() && !token_.is("}")) {
      const NodeId s = node(NodeForm::setting);
      take_name("the name of an attribute");
      expect("=");
      append(s, setting_value());
      append(n, s);
      if (!accept(",")) break;
    }
    expect("}");
    return n;
  }

  constexpr NodeId setting_value() {
    if (!token_.is("[")) return item_expression();
    const NodeId n = node(NodeForm::list);
    advance();
    while (!failed() && !token_.is("]")) {
      append(n, expression());
      if (!accept(",")) break;
    }
    expect("]");
    return close(n);
  }

  constexpr void family() {
    expect("family");
    expect("..");
    d_.family_row = take_name("the name of a row");
    expect(":");
    do {
      if (d_.family_count == Definition::max_family) return fail("more names than a family can hold");
      FamilyMember m;
      m.name = take_name("the name of a member of the family");
      expect("=");
      if (token_.form != TokenForm::number || token_.text.size() != 1) return fail("a member states the row's rank");
      m.rank = static_cast<std::uint8_t>(token_.text[0] - '0');
      advance();
      d_.family[d_.family_count++] = m;
    } while (!failed() && accept(","));
  }
};

}  // namespace etalon::spec::notation
