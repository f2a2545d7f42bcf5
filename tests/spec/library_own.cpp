// Definitions that a user adds at run time: found, refused, carried by programs in every form.
#include <catch2/catch.hpp>

#include <string>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/json.hpp"
#include "spec/program/program.hpp"
#include "spec/program/trace.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {
namespace {

const std::string two = R"(-- Half a square near 0, a line beyond.
blend(x[...]) {width = 1.0} -> y[...]  -- a comment that stays
  y[...] = if abs(x[...]) < width then 0.5*x[...]*x[...] else width*(abs(x[...]) - 0.5*width)

-- The mean of exp.
mean_exp(x[..r, n]) -> y[..r]
  y[..i] = (sum[k] exp(x[..i, k]))/n
)";

TEST_CASE("definitions of one text are told apart") {
  const Library library = Library().with(two);
  CHECK(library.added() == std::vector<std::string>{"blend", "mean_exp"});
  CHECK(library.named("blend").doc == "Half a square near 0, a line beyond.");
  CHECK(library.named("mean_exp").doc == "The mean of exp.");
  CHECK(library.named("blend").clause_count == 1);
  CHECK(library.definitions().size() == Library().definitions().size() + 2);
  CHECK(Library().find("blend") == nullptr);
  CHECK(library.hash() != Library().hash());
  CHECK(library.find("softmax") == Library().find("softmax"));
}

TEST_CASE("a definition lives as long as a library that has it") {
  Library copy;
  {
    std::string text = two;
    copy = Library().with(text);
    text.assign(text.size(), '?');
  }
  copy = copy.with("late(x[n]) -> y[n]\n  y[i] = x[i]\n");
  CHECK(copy.named("blend").text.starts_with("-- Half a square"));
  CHECK(copy.added().size() == 3);
}

TEST_CASE("a family adds each of its members") {
  const Library library = Library().with("rev(x[..s]) -> y[..s]\n  y[..i] = x[..(s - 1 - i)]\n  family ..s: rev1 = 1, rev2 = 2\n");
  CHECK(library.added() == std::vector<std::string>{"rev1", "rev2"});
  CHECK(library.texts_for("rev2") == library.texts_for("rev1"));
}

TEST_CASE("what is wrong with a text is one line with file, line and column") {
  const Library library;
  const auto refused = [&](const std::string& text, const std::string& message) {
    INFO(text);
    CHECK_THROWS_WITH(library.with(text, "my.txt"), message);
  };
  refused(two + "\nsoftmax(x[n]) -> y[n]\n  y[i] = x[i]\n", "my.txt:9:1: softmax: there is an operation of this name already");
  refused(two + two, "my.txt:9:1: blend: there is an operation of this name already");
  refused(two + "f(x[n]) -> y[n]\n  y[i] = x[i\n", "my.txt:9:13: f: expected ']', found the end");
  refused("f(x[n]) -> y[n]\n  y[i] = tangent(x[i])\n", "my.txt:2:10: f: no function of the notation has this name; found 'tangent'");
  refused("f(x[n]) -> y[n]\n  y[i] = z[i]\n", "my.txt:2:10: f: z is not a tensor that stands before this equation");
  refused("f(x[n]) -> y[n], z[n]\n  y[i] = x[i]\n", "my.txt:1:18: f: result z has no equation");
  refused("vjp(x[n]) -> y[n]\n  y[i] = x[i]\n", "my.txt:1:1: vjp: programs use this name for derivatives");
  refused("f(x[n]) -> y[n]\n  y[i] = x[i]\n  $\n", "my.txt:3:3: f: a character that the notation does not have; found '$'");
}

Program own_program() {
  return parse_program("definitions\n" + two +
                       "end definitions\ninput x : f32[2, 3]\nh = blend(x) {width = 2.0}\ny = mean_exp(h)\noutput y\n");
}

TEST_CASE("a program carries definitions of its own in both forms") {
  const Program program = own_program();
  REQUIRE(program.definitions.size() == 2);
  CHECK(types_of(program).at("y") == ValueType{DType::f32, Dims{2}});
  CHECK(parse_program(to_text(program)) == program);
  CHECK(program_from_json(program_to_json(program), "program") == program);
  const System system = lower(program);
  CHECK(system.outputs.size() == 1);
  Program without = program;
  without.definitions.clear();
  CHECK_THROWS_WITH(verify(without), Catch::Contains("unknown operation 'blend'"));
}

TEST_CASE("definitions of a program are refused with their place") {
  CHECK_THROWS_WITH(parse_program("input x : f32[2]\ndefinitions\nf(x[n]) -> y[n]\n  y[i] = x[i\nend definitions\n"),
                    "program: line 4, column 13: f: expected ']', found the end");
  CHECK_THROWS_WITH(parse_program("definitions\nf(x[n]) -> y[n]\n  y[i] = x[i]\n"),
                    "program: line 1: the definitions do not end; expected a line `end definitions`");
  Program program = own_program();
  program.definitions.push_back("relu(x[n]) -> y[n]\n  y[i] = x[i]\n");
  CHECK_THROWS_WITH(verify(program), Catch::Contains("relu: there is an operation of this name already"));
}

TEST_CASE("an operation defined in C++ becomes a step of a traced program") {
  const auto blend = etalon::define(two, {}, {"net.cpp", 3});
  CHECK(blend.name() == "mean_exp");
  Tracer tracer;
  const Traced x = tracer.input("x", DType::f32, Dims{2, 3});
  const auto scale = etalon::define("twice(x[...]) {by = 2.0} -> y[...]\n  y[...] = by*x[...]\n");
  const Traced y = blend(scale.set("by", 3.0)(x));
  const Traced z = scale(y);
  tracer.output(z);
  const Program program = tracer.finish();
  CHECK(program.definitions.size() == 2);
  CHECK(z.dims() == Dims{2});
  CHECK(parse_program(to_text(program)) == program);
  const auto other = etalon::define("twice(x[...]) -> y[...]\n  y[...] = x[...] + x[...]\n");
  CHECK_THROWS_WITH(other(x), Catch::Contains("twice: there is an operation of this name already"));
}

TEST_CASE("a definition in C++ is refused with its source line") {
  CHECK_THROWS_WITH(etalon::define("f(x[n]) -> y[n]\n  y[i] = q[i]\n", {}, {"net.cpp", 3}),
                    "definition:2:10: f: q is not a tensor that stands before this equation at net.cpp:3");
  CHECK_THROWS_WITH(etalon::define("", {}, {"net.cpp", 3}), "definition: the text defines nothing at net.cpp:3");
  CHECK_THROWS_WITH(etalon::define<2>("f(x[n]) -> y[n]\n  y[i] = x[i]\n", {}, {"net.cpp", 3}),
                    "f: expected 2 results, its definition has 1 at net.cpp:3");
}

TEST_CASE("a definition goes with those that it calls") {
  const Library library = Library().with("a(x) -> y\n  y = x\nb(x) -> y\n  y = x\nc(x) -> y\n  t = a(x)\n  y = relu(t)\n");
  CHECK(library.texts_for("c") == std::vector<std::string>{"a(x) -> y\n  y = x", "c(x) -> y\n  t = a(x)\n  y = relu(t)"});
  CHECK(library.texts_for("b").size() == 1);
  CHECK(library.texts_for("relu").empty());
}

TEST_CASE("definitions of one's own are documented like the others") {
  const Library library = Library().with(two);
  const auto json = nlohmann::json::parse(to_json(library.named("blend")));
  CHECK(json["attributes"][0]["name"] == "width");
  CHECK(json["clauses"][0]["id"] == "blend/C1");
}

}  // namespace
}  // namespace etalon::spec
