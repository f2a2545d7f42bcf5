// What a program asks of its values besides their numbers: text, JSON, tracing, and what excludes what.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/trace.hpp"
#include "spec/program/wishes.hpp"
#include "spec/protocol/json.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

const std::string body = R"(input x : f32[3] @ "net.cpp":1
parameter w : f32[3] @ "net.cpp":2
h = tanh(x)
y = mul(h, w)
w1 = sub(w, y)
output y
update w := w1
)";

std::string refusal(const std::string& wishes) {
  try {
    verify(parse_program(body + wishes));
  } catch (const SpecViolation& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("wishes are lines with a source, several values at once", "[program][wishes]") {
  const Program program = parse_program(body + "capture h, y @ \"net.cpp\":7 section \"front\"\nstored h\n");
  CHECK(program.wishes == std::vector<Wish>{{Asked::capture, "h", {"net.cpp", 7, "front"}},
                                            {Asked::capture, "y", {"net.cpp", 7, "front"}},
                                            {Asked::stored, "h", {}}});
  CHECK(parse_program(to_text(program)) == program);
  CHECK(program_from_json(program_to_json(program), "program") == program);
  CHECK(
      to_line(program_to_json(program))
          .find(R"("wishes":[{"wish":"capture","value":"h","source":{"file":"net.cpp","line":7,"section":"front"}})") !=
      std::string::npos);
  CHECK_NOTHROW(verify(program));
  CHECK_THROWS_WITH(parse_program(body + "stored\n"), Catch::Contains("line 8"));
  CHECK_THROWS_WITH(parse_program(body + "store h\n"),
                    Catch::Contains("unknown declaration 'store'; did you mean 'stored'?"));
  CHECK_THROWS_WITH(
      program_from_json(
          parse_json(R"({"inputs":[],"calls":[],"outputs":[],"wishes":[{"wish":"kept","value":"x"}]})", "p"), "p"),
      "p.wishes[0].wish: 'kept' is not offered");
}

TEST_CASE("words of wishes may name values", "[program][wishes]") {
  const Program program =
      parse_program("input stored : f32[]\ncapture = tanh(stored)\noutput capture\nstored capture\n");
  CHECK(program.wishes == std::vector<Wish>{{Asked::stored, "capture", {}}});
  CHECK_NOTHROW(verify(program));
}

TEST_CASE("wishes that exclude each other are one line that names both with their lines", "[program][wishes]") {
  CHECK(refusal("stored h @ \"a.cpp\":3\ninlined h @ \"b.cpp\":4\n") ==
        "inlined h at b.cpp:4 excludes stored h at a.cpp:3: a value that is inlined has no memory");
  CHECK(refusal("inlined h\ncapture h @ \"b.cpp\":4\n") ==
        "capture h at b.cpp:4 excludes inlined h: a value that is inlined has no memory");
  CHECK(refusal("capture h @ \"a.cpp\":3\ncapture h @ \"b.cpp\":4\n") ==
        "capture h at b.cpp:4: asked before by capture h at a.cpp:3");
  CHECK(refusal("inlined y @ \"a.cpp\":3\n") ==
        "inlined y at a.cpp:3 excludes output y, which is in memory after a run");
  CHECK(refusal("inlined w1\n") == "inlined w1 excludes update w := w1, which is in memory after a run");
  CHECK(refusal("inlined w\n") == "inlined w excludes input w at net.cpp:2, which is in memory before a run");
  CHECK(refusal("stored hh @ \"a.cpp\":3\n") == "stored hh at a.cpp:3: unknown value 'hh'; did you mean 'h'?");
  CHECK(
      refusal("buffer b : f32[3]\ncapture b\n").find("capture b: b is read, but not each of its elements is written") ==
      0);
  for (const char* both : {"capture h\nstored h\n", "stored x\n", "stored w1\ncapture w1\n", "inlined h\n"})
    CHECK(refusal(both) == "accepted");
}

TEST_CASE("captured values become outputs behind the program's own, once", "[program][wishes]") {
  const Program program = parse_program(body + "capture h, y\nstored h\n");
  CHECK(captures(program) == std::vector<std::string>{"h", "y"});
  const Program asked = with_captures(program);
  CHECK(asked.outputs == std::vector<std::string>{"y", "h"});
  CHECK(with_captures(asked) == asked);
  const System system = lower(asked);
  REQUIRE(system.outputs.size() == 3);
  CHECK(system[system.outputs[1]].name == "h");
  REQUIRE(system.wishes.size() == 3);
  CHECK(system.wishes[2] == TensorWish{system.outputs[1], Asked::stored, "stored h"});
  // Without them a capture goes nowhere.
  CHECK(lower(program).wishes.size() == 2);
}

TEST_CASE("a wish about an assigned buffer is about what it holds in the end", "[program][wishes]") {
  const Program program =
      parse_program("input x : f32[3]\nbuffer b[i] = x[i]\nb[i] *= x[i]\ny = sum(b)\noutput y\nstored b\n");
  const System system = lower(program);
  REQUIRE(system.wishes.size() == 1);
  CHECK(system[system.wishes[0].tensor].name == "b.2");
}

TEST_CASE("traced values are named, stored and inlined where the C++ says so", "[program][wishes]") {
  Tracer t;
  const Traced x = t.input("x", DType::f32, {3});
  const Traced h = named("hidden", ops::tanh(x));
  const std::uint32_t line = SourceLine::current().line - 1;
  const Traced k = named("hidden", stored(ops::exp(h)));
  const Traced twice = stored(inlined(ops::neg(x)) + k);
  (void)stored(twice);
  t.output("y", twice);
  const Program program = t.finish();
  CHECK(h.name() == "hidden");
  CHECK(k.name() == "hidden.2");
  REQUIRE(program.wishes.size() == 5);
  CHECK(program.wishes[0].value == "hidden");
  CHECK(program.wishes[0].source.line == line);
  CHECK(program.wishes[0].source.file == __FILE__);
  CHECK(captures(program) == std::vector<std::string>{"hidden", "hidden.2"});
  CHECK(program.wishes[4].value == "y");  // renamed since
  CHECK_THROWS_WITH(named("z", x), Catch::Contains("named: x comes from outside and keeps its name, found 'z'"));
  CHECK_NOTHROW(named("x", x));
  CHECK_THROWS_WITH(named("2", h), Catch::Contains("a name is letters"));
  (void)inlined(twice);
  CHECK_THROWS_WITH(t.finish(), Catch::Contains("excludes stored y at"));
}
