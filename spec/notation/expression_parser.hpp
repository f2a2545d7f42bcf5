/// \file
/// The expressions, index items and rows of the notation: recursive descent into a flat tree. It knows no signatures.
#pragma once

#include <optional>
#include <string_view>

#include "spec/notation/definition.hpp"
#include "spec/notation/lexer.hpp"

namespace etalon::spec::notation {

/// The reduction of that name, or nothing.
[[nodiscard]] constexpr std::optional<Reduction> reduction_named(std::string_view name) {
  for (const Reduction r : {Reduction::sum, Reduction::prod, Reduction::max, Reduction::min, Reduction::any,
                            Reduction::all, Reduction::argmax, Reduction::argmin}) {
    if (name_of(r) == name) return r;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr std::string_view name_of(Builtin b) {
  constexpr std::string_view names[] = {"size", "flat", "unflat", "keep", "only", "before", "total", "count", "inside",
                                        "rank", "part", "completed"};
  return names[static_cast<std::size_t>(b)];
}

[[nodiscard]] constexpr std::optional<Builtin> builtin_named(std::string_view name) {
  for (const Builtin b : {Builtin::size, Builtin::flat, Builtin::unflat, Builtin::keep, Builtin::only, Builtin::before,
                          Builtin::total, Builtin::count, Builtin::inside, Builtin::rank, Builtin::part,
                          Builtin::completed}) {
    if (name_of(b) == name) return b;
  }
  return std::nullopt;
}

[[nodiscard]] constexpr bool is_keyword(std::string_view name) {
  for (const std::string_view k : {"if", "then", "else", "and", "or", "not", "where", "when", "let", "requires", "true",
                                   "false", "detach", "family", "also", "jvp", "vjp"}) {
    if (name == k) return true;
  }
  return false;
}

class ExpressionParser {
 protected:
  constexpr explicit ExpressionParser(Definition& into) : d_(into) {
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
  static constexpr Slice slice_of(const Token& t) {
    return {static_cast<std::uint16_t>(t.begin), static_cast<std::uint16_t>(t.text.size())};
  }
  constexpr Slice slice_from(std::size_t begin) const {
    return {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(last_end_ > begin ? last_end_ - begin : 0)};
  }

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
    NodeId n = expression();
    while (token_.is("&")) n = join(n);
    expect(")");
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
    append_all(tensor, items("]"));
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

  // --- calls of other operations ---

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

  // --- the tree ---

  constexpr NodeId node(NodeForm form, std::uint8_t op = 0) {
    if (failed()) return -1;
    if (d_.node_count == Definition::max_nodes) {
      fail("the definition is larger than the notation's limit of 512 nodes");
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
  constexpr void append(NodeId parent, NodeId child) {
    if (failed() || parent < 0 || child < 0) return;
    NodeId* slot = &d_.nodes[parent].first;
    while (*slot >= 0) slot = &d_.nodes[*slot].next;
    *slot = child;
  }
  constexpr void append_all(NodeId parent, NodeId first) { append(parent, first); }

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
  bool ends_in_reduction_ = false;

 protected:
  bool of_operand_ = false;  ///< items may be marked as rows of at most one axis
  char mark_ = 0;  ///< that names may bear in this part
};

}  // namespace etalon::spec::notation
