/// \file
/// The expressions, index items and rows of the notation: recursive descent into a flat tree. It knows no signatures.
#pragma once

#include <string_view>

#include "spec/notation/definition.hpp"
#include "spec/notation/lexer.hpp"
#include "spec/notation/tree_builder.hpp"
#include "spec/notation/words.hpp"

namespace etalon::spec::notation {

class ExpressionParser : protected TreeBuilder {
 protected:
  using TreeBuilder::TreeBuilder;

  // --- expressions ---

  /// `if`, `else` and everything below.
  constexpr NodeId expression() { return conditional(true); }

  /// An expression in which `else` belongs to an enclosing `if`.
  constexpr NodeId conditional(bool may_else) {
    if (token_.is("if")) {
      const NodeId n = node(NodeForm::select);
      advance();
      append(n, conditional(true));
      expect("then");
      append(n, conditional(false));
      expect("else");
      append(n, conditional(may_else));
      return close(n);
    }
    const NodeId value = disjunction();
    if (!may_else || !token_.is("else")) return value;
    if (failed() || !may_be_absent(value)) {
      fail("`else` follows a read, or max, min, argmax, argmin");
      return -1;
    }
    const NodeId n = node_from(NodeForm::otherwise, value);
    advance();
    append(n, value);
    append(n, conditional(true));
    return close(n);
  }

  constexpr NodeId disjunction() {
    NodeId left = conjunction();
    while (token_.is("or")) left = binary(Primitive::logical_or, left, &ExpressionParser::conjunction);
    return left;
  }
  constexpr NodeId conjunction() {
    NodeId left = negation();
    while (token_.is("and")) left = binary(Primitive::logical_and, left, &ExpressionParser::negation);
    return left;
  }
  constexpr NodeId negation() {
    if (!token_.is("not")) return comparison();
    const NodeId n = node(NodeForm::apply, static_cast<std::uint8_t>(Primitive::logical_not));
    advance();
    append(n, negation());
    return close(n);
  }
  constexpr NodeId comparison() {
    const NodeId left = addition();
    for (const Primitive p :
         {Primitive::eq, Primitive::ne, Primitive::lt, Primitive::le, Primitive::gt, Primitive::ge}) {
      if (token_.is(info(p).name)) return binary(p, left, &ExpressionParser::addition);
    }
    return left;
  }
  constexpr NodeId addition() {
    NodeId left = product();
    while (token_.is("+") || token_.is("-")) {
      left = binary(token_.is("+") ? Primitive::add : Primitive::sub, left, &ExpressionParser::product);
    }
    return left;
  }

  /// A reduction swallows the factors after it, so that none of `/`, `//`, `%` may follow its body.
  constexpr NodeId product() {
    NodeId left = unary();
    while (!failed()) {
      if (token_.is("*")) {
        left = binary(Primitive::mul, left, &ExpressionParser::unary);
      } else if (token_.is("/") || token_.is("//") || token_.is("%")) {
        if (ends_in_reduction_) {
          fail("the body of a reduction is the longest product: write (sum[k] …) / n, or sum[k] (… / n)");
          return -1;
        }
        const Primitive p = token_.is("/") ? Primitive::div : token_.is("//") ? Primitive::floor_div : Primitive::modulo;
        left = binary(p, left, &ExpressionParser::unary);
      } else {
        break;
      }
    }
    return left;
  }
  constexpr NodeId unary() {
    if (!token_.is("-")) return power();
    const NodeId n = node(NodeForm::apply, static_cast<std::uint8_t>(Primitive::neg));
    advance();
    append(n, unary());
    return close(n);
  }
  constexpr NodeId power() {
    const NodeId left = primary();
    return token_.is("^") ? binary(Primitive::pow, left, &ExpressionParser::unary) : left;
  }

  constexpr NodeId primary() {
    ends_in_reduction_ = false;
    if (failed()) return -1;
    if (token_.form == TokenForm::number) {
      check_number();
      const NodeId n = node(NodeForm::number);
      advance();
      return n;
    }
    if (token_.is("..") || token_.is("...")) return row();
    if (token_.is("(")) {
      const NodeId n = parenthesised();
      ends_in_reduction_ = false;
      return n;
    }
    if (token_.form != TokenForm::name) {
      fail("expected an expression");
      return -1;
    }
    return named();
  }

  /// The text of a compound expression includes its parentheses, for messages.
  constexpr NodeId parenthesised() {
    const std::size_t begin = token_.begin;
    advance();
    if (++open_ > most_open) fail("more than 100 parentheses in each other");
    NodeId n = failed() ? NodeId{-1} : expression();
    while (token_.is("&")) n = join(n);
    expect(")");
    --open_;
    if (failed() || n < 0) return -1;
    const NodeForm f = d_.nodes[n].form;
    if (f == NodeForm::apply || f == NodeForm::join || f == NodeForm::select || f == NodeForm::otherwise) {
      d_.nodes[n].text = slice_from(begin);
    }
    return n;
  }

  constexpr NodeId join(NodeId left) {
    const NodeId n = node_from(NodeForm::join, left);
    advance();
    append(n, left);
    append(n, primary());
    return close(n);
  }

  /// An extent or row expression outside parentheses, as after `let … =`.
  constexpr NodeId item_expression() {
    NodeId n = expression();
    while (token_.is("&")) n = join(n);
    return n;
  }

  constexpr NodeId named() {
    const std::string_view name = token_.text;
    if (name == "true" || name == "false") {
      const NodeId n = node(NodeForm::truth, name == "true" ? 1 : 0);
      advance();
      return n;
    }
    if (is_keyword(name) && name != "detach") {
      fail("expected an expression");
      return -1;
    }
    const Token after = lexer::next(d_.text, token_.begin + name.size());
    if (after.is("[")) {
      if (const auto r = reduction_named(name)) return reduction(*r);
      return read(name_node());
    }
    if (after.is("(")) return call(name);
    if (after.is("#")) return packed();
    return name_node();
  }

  constexpr NodeId call(std::string_view name) {
    NodeId n = -1;
    if (name == "detach") {
      n = node(NodeForm::detach);
    } else if (const auto b = builtin_named(name)) {
      n = node(NodeForm::builtin, static_cast<std::uint8_t>(*b));
    } else if (const auto p = primitive_named(name)) {
      n = node(NodeForm::apply, static_cast<std::uint8_t>(*p));
    } else {
      fail("no function of the notation has this name");
      return -1;
    }
    advance();
    expect("(");
    while (!failed() && !token_.is(")")) {
      append(n, item_expression());
      if (!accept(",")) break;
    }
    expect(")");
    check_arity(n);
    ends_in_reduction_ = false;
    return close(n);
  }

  constexpr void check_arity(NodeId n) {
    if (failed()) return;
    const NodeText& f = d_.nodes[n];
    std::size_t low = 1, high = 1;
    if (f.form == NodeForm::apply) low = high = info(static_cast<Primitive>(f.op)).arity;
    if (f.form == NodeForm::builtin) {
      switch (static_cast<Builtin>(f.op)) {
        case Builtin::unflat:
        case Builtin::keep:
        case Builtin::only:
        case Builtin::completed: low = high = 2; break;
        case Builtin::part: low = high = 3; break;
        case Builtin::flat: high = 2; break;
        default: break;
      }
    }
    const std::size_t given = d_.children(n);
    if (given < low || given > high) fail_at(f.text, "a function has the wrong number of arguments");
  }

  /// `n#`, `n#t`, `x#t[…]`.
  constexpr NodeId packed() {
    const NodeId n = node(NodeForm::pack_name);
    advance();
    expect("#");
    if (token_.form != TokenForm::name || is_keyword(token_.text)) return n;
    d_.nodes[n].form = NodeForm::pack_member;
    append(n, name_node());
    return token_.is("[") ? read(n) : n;
  }

  /// `[` items `]` after the tensor's name; a pack's member keeps its tag as first child.
  constexpr NodeId read(NodeId tensor) {
    if (failed()) return -1;
    NodeText& t = d_.nodes[tensor];
    t.op = t.form == NodeForm::pack_member ? 1 : 0;
    t.form = NodeForm::read;
    expect("[");
    append(tensor, items("]"));
    ends_in_reduction_ = false;
    return tensor;
  }

  constexpr NodeId reduction(Reduction r) {
    const NodeId n = node(NodeForm::reduce, static_cast<std::uint8_t>(r));
    advance();
    expect("[");
    while (!failed() && !token_.is("]") && !token_.is("where")) {
      append(n, binder());
      if (!accept(",")) break;
    }
    if (accept("where")) {
      d_.nodes[n].flag = true;
      append(n, disjunction());
    }
    expect("]");
    append(n, body());
    ends_in_reduction_ = true;
    return close(n);
  }

  /// The longest product: factors joined by `*` only.
  constexpr NodeId body() {
    NodeId left = unary();
    while (token_.is("*")) left = binary(Primitive::mul, left, &ExpressionParser::unary);
    return left;
  }

  constexpr NodeId binder() {
    const NodeId what = token_.is("..") || token_.is("...") ? row() : name_node();
    const NodeId n = node_from(NodeForm::binder, what);
    append(n, what);
    if (accept("<")) append(n, addition());
    return close(n);
  }

  // --- rows and index items ---

  /// `...`, `..name`, `..name#`, `..name#t`, `..(e)`, `..f(e)`.
  constexpr NodeId row() {
    if (token_.is("...")) {
      const NodeId n = node(NodeForm::row);
      advance();
      return n;
    }
    const std::size_t begin = token_.begin;
    expect("..");
    const Token after = lexer::next(d_.text, token_.begin + token_.text.size());
    if (token_.is("(") || (token_.form == TokenForm::name && after.is("("))) {
      const NodeId child = primary();
      const NodeId n = node(NodeForm::row_of);
      if (n >= 0) d_.nodes[n].text.begin = static_cast<std::uint16_t>(begin);
      append(n, child);
      return close(n);
    }
    const NodeId n = name_node();
    if (failed()) return -1;
    d_.nodes[n].form = NodeForm::row;
    if (!accept("#")) return n;
    d_.nodes[n].form = NodeForm::pack_name;
    d_.nodes[n].op = 1;
    if (token_.form == TokenForm::name && !is_keyword(token_.text)) {
      d_.nodes[n].form = NodeForm::pack_member;
      append(n, name_node());
    }
    return n;
  }

  /// Comma-separated items up to `close`; the first of them.
  constexpr NodeId items(std::string_view closing) {
    NodeId first = -1;
    NodeId last = -1;
    while (!failed() && !token_.is(closing)) {
      const NodeId n = item();
      if (failed()) break;
      if (first < 0) first = n;
      else d_.nodes[last].next = n;
      last = n;
      if (!accept(",")) break;
    }
    expect(closing);
    return first;
  }

  /// An index, extent or row, perhaps with a range and a placement: `k < e @ axis`.
  constexpr NodeId item() {
    NodeId n = addition();
    if (of_operand_ && n >= 0 && d_.nodes[n].form == NodeForm::row && accept("?")) d_.nodes[n].flag = true;
    if (token_.is("<")) {
      const NodeId b = node_from(NodeForm::binder, n);
      advance();
      append(b, n);
      append(b, addition());
      n = close(b);
    }
    if (!accept("@")) return n;
    const NodeId p = node(NodeForm::placed);
    take_name("the attribute that says where");
    append(p, n);
    return p;
  }

  constexpr NodeId name_node() {
    const NodeId n = node(NodeForm::name);
    if (token_.form != TokenForm::name || is_keyword(token_.text)) fail("expected a name");
    check_mark();
    advance();
    return n;
  }

  constexpr NodeId binary(Primitive p, NodeId left, NodeId (ExpressionParser::*right)()) {
    const NodeId n = node_from(NodeForm::apply, left);
    if (n < 0) return -1;
    d_.nodes[n].op = static_cast<std::uint8_t>(p);
    advance();
    append(n, left);
    append(n, (this->*right)());
    return close(n);
  }

  constexpr bool may_be_absent(NodeId n) const {
    if (n < 0) return false;
    const NodeText& t = d_.nodes[n];
    if (t.form == NodeForm::read) return true;
    if (t.form != NodeForm::reduce) return false;
    const auto r = static_cast<Reduction>(t.op);
    return r == Reduction::max || r == Reduction::min || r == Reduction::argmax || r == Reduction::argmin;
  }

  bool of_operand_ = false;  ///< items may be marked as rows of at most one axis

 private:
  /// The only form that nests without making a node.
  static constexpr int most_open = 100;

  bool ends_in_reduction_ = false;
  int open_ = 0;  ///< parentheses around the expression at hand
};

}  // namespace etalon::spec::notation
