// Clauses N1 to N13 of docs/notation.md.
#include <catch2/catch.hpp>

#include <string>

#include "spec/library/library.hpp"
#include "spec/notation/split.hpp"
#include "tests/spec/notation_call.hpp"

using namespace etalon;
using namespace etalon::spec;
using Catch::Contains;

TEST_CASE("N1 tokens: comments, numbers, and line ends that mean nothing", "[notation][N1]") {
  const auto d = std::make_unique<Definition>(
      parse("-- One line.\nf(x[n]) {a=1.5e-3}->y[n] -- a comment\n y[i] = -- another\n   x[i]\n *a"));
  CHECK(d->diagnosis.message() == "");
  CHECK(d->doc == "One line.");
  CHECK(d->clause_count == 1);
  CHECK_THAT(parse_error("f(x[n]) -> y[n]  y[i] = x[i] ; 1"), Contains("';'") && Contains("1:30"));
  CHECK_THAT(parse_error("f(x) -> y  y = x × x"), Contains("found '×' (at 1:18)"));
}

TEST_CASE("N2 signature: name, operands, attributes, results in this order", "[notation][N2]") {
  const auto d = std::make_unique<Definition>(parse("f(a[n], b) {c = 1, d = 2.0} -> y[n], z\n y[i] = a[i]\n z = b"));
  REQUIRE(d->ok());
  CHECK(d->name == "f");
  CHECK(d->operand_count == 2);
  CHECK(d->attribute_count == 2);
  CHECK(d->result_count == 2);
  CHECK(parse_error("f(a, a) -> y") == "f: two operands have one name; found 'a' (at 1:6)");
  CHECK(parse_error("f(a -> y") == "f: expected ')', found '->' (at 1:5)");
  CHECK_THAT(parse_error("f(a)"), Contains("expected '->', found the end"));
}

TEST_CASE("N3 operands: optional ones and packs", "[notation][N3]") {
  const auto d = std::make_unique<Definition>(parse("f(x#[..r], b[n]? : int) -> y[n] : int\n y[i] = b[i] else 0"));
  REQUIRE(d->ok());
  CHECK(d->operands[0].pack);
  CHECK(!d->operands[0].optional);
  CHECK(d->operands[1].optional);
  CHECK(d->operands[1].range == Range::integer);
  CHECK_THAT(parse_error("f(x : complex) -> y"), Contains("an operand is : real, : int, : bool, : number or : any"));
}

TEST_CASE("N4 attributes: a default states the kind", "[notation][N4]") {
  const auto d = std::make_unique<Definition>(
      parse("f(x[..w]) {a = 0, b = 0.0, c = true, d = f32, e = all, g = [1, 2], h = p | q, i, j[..w] = 1, k = reversed, l : value = 0} -> y[..w]\n"
            " y[..k] = x[..k]"));
  REQUIRE(d->ok());
  const AttributeKind kinds[] = {AttributeKind::integer, AttributeKind::real,     AttributeKind::boolean,
                                 AttributeKind::dtype,   AttributeKind::axes,     AttributeKind::integers,
                                 AttributeKind::symbol,  AttributeKind::real,     AttributeKind::integers,
                                 AttributeKind::axes,    AttributeKind::value};
  REQUIRE(d->attribute_count == std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i) CHECK(d->attributes[i].kind == kinds[i]);
  CHECK(!d->attributes[7].has_default);
  CHECK(d->at(d->attributes[6].choices) == "p | q");
  const char* window = "f(x[..s]) {kernel[..s], stride[..s] = kernel} -> y[..(s // stride)]\n y[..k] = 0";
  CHECK(parse(window).attributes[1].kind == AttributeKind::integers);
  CHECK(type_of(window, {f64({6, 6})}, "kernel=[2, 3]") == std::vector<ValueType>{f64({3, 2})});
  CHECK(type_of(window, {f64({6, 6})}, "kernel=[2, 3], stride=1") == std::vector<ValueType>{f64({6, 6})});
}

TEST_CASE("N5 results: their element types", "[notation][N5]") {
  CHECK(type_of("f(x[n]) -> y[n], k : int, b : bool\n y[i] = x[i]\n k = 1\n b = true", {f64({2})}) ==
        std::vector<ValueType>{f64({2}), i64({}), flag({})});
  CHECK(type_of("f(x[n]) {to : dtype} -> y[n] : to\n y[i] = x[i]", {f64({2})}, "to=f32") ==
        std::vector<ValueType>{f32({2})});
  CHECK_THAT(parse_error("f(x) -> y : real"), Contains("a result is : int, : bool"));
}

TEST_CASE("N6 clauses: requires, let, equations, conditions", "[notation][N6]") {
  const std::string text =
      "f(x[n]) {half = false} -> y[m]\n let m = n // 2\n requires n % 2 == 0\n"
      " y[i] when half = x[i]/2\n y[i] when not half = t[i]\n t[i < m] = x[2*i]";
  CHECK_THROWS_WITH(instance_of(text, {f32({4})}), Contains("t is not a tensor that stands before this equation"));
  CHECK_THAT(parse_error("f(x) -> y\n if = 1"), Contains("a clause starts with a name"));
}

TEST_CASE("N7 precedence", "[notation][N7]") {
  const auto value = [](const std::string& e) { return equations_of("f(a, b, c) -> y\n y = " + e, {f32({}), f32({}), f32({})}); };
  CHECK(value("a + b*c^a^b") == "y = a + b * c ^ (a ^ b)\n");
  CHECK(value("-a^b") == value("-(a^b)"));
  CHECK(value("-a^b") != value("(-a)^b"));
  CHECK(value("a - b - c") == value("(a - b) - c"));
  CHECK(value("a - b - c") != value("a - (b - c)"));
  CHECK(value("a / b * c") == value("(a / b) * c"));
  CHECK(value("if not a < b and b < c or a == c then a else b") == value("if ((not (a < b)) and (b < c)) or (a == c) then a else b"));
  CHECK_THAT(parse_error("f(a, b, c) -> y\n y = if a < b < c then 1 else 2"), Contains("expected 'then', found '<'"));
}

TEST_CASE("N8 bodies: the body of a reduction is the longest product", "[notation][N8]") {
  const auto value = [](const std::string& e) { return equations_of("f(x[n], b) -> y\n y = " + e, {f32({2}), f32({})}); };
  CHECK_THAT(parse_error("f(x[n], b) -> y\n y = sum[k] x[k] / b"), Contains("write (sum[k]"));
  CHECK_THAT(parse_error("f(x[n], b) -> y\n y = 2 + sum[k] x[k]*b // 2"), Contains("write (sum[k]"));
  CHECK(value("(sum[k] x[k]) / b") == "y = (sum[k < 2] x[k]) / b\n");
  CHECK(value("sum[k] x[k] * b + b") == value("(sum[k] x[k] * b) + b"));
  CHECK(value("sum[k] x[k] * b + b") != value("sum[k] (x[k] * b + b)"));
  CHECK(value("max[k] x[k] + b") == value("(max[k] x[k]) + b"));
  CHECK(value("b / sum[k] x[k]") == value("b / (sum[k] x[k])"));
}

TEST_CASE("N9 else follows a read or an extremum", "[notation][N9]") {
  CHECK_THAT(parse_error("f(x[n]) -> y[n]\n y[i] = x[i] + 1 else 0"), Contains("`else` follows a read"));
  CHECK_THAT(parse_error("f(x[n]) -> y\n y = sum[k] x[k] else 0"), Contains("`else` follows a read"));
  CHECK(parse_error("f(x[n]) -> y\n y = max[k] x[k] else 0") == "");
  CHECK(parse_error("f(x[n]) -> y[n]\n y[i] = 1 + (x[i - 1] else 0)") == "");
}

TEST_CASE("N10 errors: one line, a position, and no end to patience", "[notation][N10]") {
  CHECK(parse_error("f(x[n) -> y[n]") == "f: expected ']', found ')' (at 1:6)");
  CHECK_THAT(parse_error(""), Contains("expected the name of the operation"));
  CHECK_THAT(parse_error("f(x) -> y\n y = 1 + foo(x)"), Contains("no function of the notation has this name; found 'foo'"));
  CHECK_THAT(parse_error("f(x) -> y\n y = 1 + pow(x)"), Contains("no function"));
  CHECK_THAT(parse_error("f(x) -> y\n y = maximum(x)"), Contains("wrong number of arguments"));
  std::string deep = "f(x) -> y\n y = x";
  for (int i = 0; i < 700; ++i) deep += " + x";
  CHECK_THAT(parse_error(deep), Contains("1024 nodes"));
  const auto within = [](std::size_t open) { return "f(x) -> y\n y = " + std::string(open, '(') + "x" + std::string(open, ')'); };
  CHECK(parse_error(within(100)) == "");
  CHECK_THAT(parse_error(within(101)), Contains("more than 100 parentheses in each other"));
  CHECK_THAT(parse_error("f(x) -> y\n y = " + std::string(50000, '(')), Contains("more than 100 parentheses in each other"));
  const std::string good = "conv(x[b, ..s]) {k[..s] = 1} -> y[b, ..(s + k)]\n y[n, ..i] = x[n, ..(i - k)] else 0";
  REQUIRE(parse_error(good) == "");
  std::size_t refused = 0;
  for (std::size_t cut = 0; cut < good.size(); ++cut) refused += parse_error(good.substr(0, cut)).empty() ? 0U : 1U;
  CHECK(refused > good.size() / 2);
}

TEST_CASE("N11 several definitions in one text, each with the comments before it", "[notation][N11]") {
  const auto all = split_definitions("-- First.\nf(x[n]) -> y[n]\n  y[i] = sum[k] exp(x[k]) -- of it\n\n-- Second.\ng(x) -> y  y = x h(x) -> y  y = x");
  REQUIRE(all.size() == 3);
  CHECK(all[0]->definition.doc == "First.");
  CHECK(all[0]->text.ends_with("-- of it"));
  CHECK(all[1]->definition.doc == "Second.");
  CHECK(all[1]->line == 5);
  CHECK(all[2]->definition.name == "h");
  CHECK(split_definitions(" -- nothing\n").empty());
  const auto bad = split_definitions("f(x) -> y\n  y = x\n\ng(x) -> y\n  y = x +\nh(x) -> y\n  y = x\n");
  REQUIRE(bad.size() == 2);
  CHECK(std::string(located(*bad[1], bad[1]->definition.diagnosis, "f.txt").what()).starts_with("f.txt:6:"));
}

TEST_CASE("N12 a call of another operation is a clause of its own", "[notation][N12]") {
  const auto d = std::make_unique<Definition>(
      parse("f(x[n], p#[n]) {a = 0} -> y[n], z[n]\n y, _ when a == 0 = g(x, p#, _) {b = [a, 1], c = -a}\n z = h(y)\n z = exp(x)"));
  REQUIRE(d->ok());
  REQUIRE(d->clause_count == 3);
  CHECK(d->clauses[0].form == ClauseText::Form::call);
  CHECK(d->at(d->clauses[0].value) == "g");
  CHECK(d->children(d->clauses[0].value) == 5);
  CHECK(d->clauses[1].form == ClauseText::Form::call);
  CHECK(d->clauses[2].form == ClauseText::Form::equation);
  CHECK(d->callee(d->clauses[0].value) == nullptr);
  CHECK_THAT(parse_error("f(x) -> y\n y, z = x"), Contains("several results are those of one operation; found 'x'"));
  CHECK_THAT(parse_error("f(x[n]) -> y[n]\n y[i] = g(x[i])"), Contains("no function of the notation has this name"));
  CHECK_THAT(parse_error("f(x[n]) -> y[n]\n y = g(x[i])"), Contains("expected ')', found '['"));
  CHECK_THAT(parse_error("f(x) -> y\n y = g(x) {a}"), Contains("expected '=', found '}'"));
  const Library library = Library().with("g(x) -> y\n y = x");
  CHECK_THROWS_WITH(library.with("f(x) -> y\n y = h(x)"), "definitions:2:6: f: no operation h stands before this definition");
  CHECK_THROWS_WITH(library.with("f(x) -> y\n y = f(x)"), "definitions:2:6: f: no operation f stands before this definition");
  CHECK_THROWS_WITH(library.with("f(x) -> y\n y = g(t)"), "definitions:2:8: f: t is not a tensor that stands before this call");
  CHECK_NOTHROW(library.with("f(x) -> y\n y = g(x)"));
}

TEST_CASE("N13 parts state other algorithms, and derivatives", "[notation][N13]") {
  const auto d = std::make_unique<Definition>(
      parse("f(x[n]) -> y[n]\n y[i] = x[i]*x[i]\n also\n y[i] = x[i]^2\n vjp x~[i] = 2*x[i]*y~[i]\n jvp\n y'[i] = 2*x[i]*x'[i]"));
  REQUIRE(d->ok());
  REQUIRE(d->part_count == 3);
  CHECK(d->parts[0] == PartForm::also);
  CHECK(d->parts[1] == PartForm::vjp);
  CHECK(d->parts[2] == PartForm::jvp);
  CHECK(d->clauses[0].part == 0);
  CHECK(d->clauses[3].part == 3);
  CHECK_THAT(parse_error("f(x) -> y\n y = x~"), Contains("tangents and cotangents stand in jvp and vjp parts; found 'x~'"));
  CHECK_THAT(parse_error("f(x~) -> y\n y = x"), Contains("tangents and cotangents stand in jvp and vjp parts"));
  CHECK_THAT(parse_error("f(x) -> y\n y = x\n vjp\n y' = x"), Contains("a vjp part speaks of cotangents; found 'y''"));
  CHECK_THAT(parse_error("f(x) -> y\n y = x\n also\n requires 1 > 0"), Contains("a part has equations only"));
  CHECK_THROWS_WITH(Library().with("f(x, z) -> y\n y = x*z\n vjp\n x~ = y~*z"), Contains("1:6: f: the vjp part gives no z~"));
  CHECK_THROWS_WITH(Library().with("f(x) -> y\n y = x\n vjp\n x~ = w~[0]"), Contains("w~ is not a tensor that stands before this equation"));
}
