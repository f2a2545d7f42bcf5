#include <cmath>

#include <catch2/catch.hpp>

#include "spec/error.hpp"
#include "spec/program/program.hpp"
#include "tests/spec/program_generator.hpp"

using namespace etalon;
using namespace etalon::spec;

TEST_CASE("a program reads back from its text", "[program]") {
  const bool held = rc::check("parse_program(to_text(p)) == p", [] {
    const Program program = spec::test::any_program();
    RC_ASSERT(parse_program(to_text(program)) == program);
  });
  REQUIRE(held);
}

TEST_CASE("the text form reads as written by hand", "[program]") {
  const Program program = parse_program(R"(# one step of descent
input x : f32[2, 3]   # a batch
parameter w : f32[3] @ "net.cpp":12
index n : i64[] in 0..79
constant c : f32[2] = [0.5, -0.0]
h, k = op(x, _, w) packs [2, 0] {axis = -1, eps = 1e-5, keepdims = true, reduction = mean, lr = $rate, shape = [2, 3]} @ "net.cpp":14 section "w3 sgd"
g = vjp(h; w)
t = jvp(h, k; x, w; dx, _)
output h, g
update w := w1
)");
  REQUIRE(program.inputs.size() == 4);
  CHECK(program.inputs[1].role == Role::parameter);
  CHECK(program.inputs[1].source == Source{"net.cpp", 12, ""});
  CHECK(program.inputs[2].range == std::pair<std::int64_t, std::int64_t>(0, 79));
  CHECK(program.inputs[3].value->view<float>()[0] == 0.5F);
  CHECK(std::signbit(program.inputs[3].value->view<float>()[1]));
  REQUIRE(program.steps.size() == 3);
  const Call& call = std::get<Call>(program.steps[0]);
  CHECK(call.operands == std::vector<std::optional<std::string>>{"x", std::nullopt, "w"});
  CHECK(call.packs == std::vector<std::size_t>{2, 0});
  CHECK(call.attributes.at("axis") == AttributeValue(std::int64_t{-1}));
  CHECK(call.attributes.at("eps") == AttributeValue(1e-5));
  CHECK(call.attributes.at("keepdims") == AttributeValue(true));
  CHECK(call.attributes.at("reduction") == AttributeValue(std::string("mean")));
  CHECK(call.attributes.at("lr") == AttributeValue(ValueName{"rate"}));
  CHECK(call.attributes.at("shape") == AttributeValue(std::vector<std::int64_t>{2, 3}));
  CHECK(call.source == Source{"net.cpp", 14, "w3 sgd"});
  CHECK(std::get<Differentiate>(program.steps[1]).seeds.empty());
  CHECK(std::get<Differentiate>(program.steps[2]).seeds.size() == 2);
  CHECK(program.updates == std::vector<Update>{{"w", "w1"}});
}

TEST_CASE("a program may name its input as a keyword", "[program]") {
  const Program program = parse_program("input input : f32[]\noutput = f(input)\noutput output\n");
  CHECK(program.inputs[0].name == "input");
  CHECK(std::get<Call>(program.steps[0]).results[0] == "output");
  CHECK(program.outputs == std::vector<std::string>{"output"});
}

TEST_CASE("malformed text is refused with line and column", "[program]") {
  const auto message = [](std::string_view text) -> std::string {
    try {
      (void)parse_program(text);
    } catch (const SpecViolation& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(message("input x f32[2]") == "program: line 1, column 9: expected ':', found 'f32'");
  CHECK(message("\ninput x : f33[2]") == "program: line 2, column 11: unknown element type 'f33'; did you mean 'f32'?");
  CHECK(message("inptu x : f32[2]") == "program: line 1, column 1: unknown declaration 'inptu'; did you mean 'input'?");
  CHECK(message("y = relu(x") == "program: line 1, column 11: expected ')', found the end of the line");
  CHECK(message("y = relu(x) {a = 1, a = 2}") == "program: line 1, column 21: attribute a is given twice");
  CHECK(message("constant c : f32[2] = [1.0]") == "program: line 1, column 23: expected 2 elements, found 1");
  CHECK(message("constant c : i32[] = 3000000000") == "program: line 1, column 22: expected an element of type i32, found '3000000000'");
  CHECK(message("input x : f32[-1]") == "program: line 1, column 15: an extent is not negative, found -1");
  CHECK(message("y = relu(x) @ \"net") == "program: line 1, column 15: the string has no closing quote");
}

TEST_CASE("a step that names no source line may get its own in the text", "[program]") {
  const std::string text = "# a comment\ninput x : f32[2]\nh = relu(x) section \"net\"\n\nbuffer b[i] = 2*h[i]\ny = tanh(b) @ \"net.cpp\":20\noutput y\n";
  const Program program = parse_program(text, "step.txt");
  std::vector<Source> sources;
  for (const auto& step : program.steps) sources.push_back(std::visit([](const auto& one) { return one.source; }, step));
  CHECK(sources == std::vector<Source>{{"step.txt", 3, "net"}, {"step.txt", 5, ""}, {"net.cpp", 20, ""}});
  CHECK(program.inputs[0].source == Source{});
  CHECK(std::get<Call>(parse_program(text).steps[0]).source.file.empty());
}
