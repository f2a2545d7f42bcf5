#include <catch2/catch.hpp>
#include <string>

#include "spec/error.hpp"
#include "spec/program/fault.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

/// `line:column` of what is wrong with the text, by its lines alone.
std::string place_in(const std::string& text) {
  PartLines lines;
  try {
    verify(parse_program(text, "", lines));
  } catch (const TextViolation& error) {
    return std::to_string(error.place().line) + ":" + std::to_string(error.place().column);
  } catch (const PartViolation& error) {
    const Place place = place_of(error, lines, text);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
  }
  return "nothing";
}

const std::string inputs = "# two inputs\ninput x : f32[2, 3]\n\ninput w : f32[4, 4]\n";

}  // namespace

TEST_CASE("a rule that a program breaks names its part and its word", "[sound][program]") {
  CHECK(place_in(inputs + "h = matmul(x, w)\noutput h\n") == "5:5");
  CHECK(place_in(inputs + "\t h = matmul(x, w)\noutput h\n") == "5:7");
  CHECK(place_in(inputs + "h = relu(v)\noutput h\n") == "5:10");
  CHECK(place_in(inputs + "w = relu(x)\noutput w\n") == "5:1");
  CHECK(place_in(inputs + "h = relu(x)\noutput x, v\n") == "6:11");
  CHECK(place_in(inputs + "output output\n") == "5:8");
  CHECK(place_in(inputs + "h = relu(x)\nupdate x := h\noutput h\n") == "6:8");
  CHECK(place_in(inputs + "h = relu(x)\noutput h\nstored v\n") == "7:8");
  CHECK(place_in(inputs + "h = relu(x)\noutput h\nstored h\ninlined h\n") == "8:9");
  CHECK(place_in("constant c : f32[]\noutput c\n") == "1:10");
  CHECK(place_in("buffer b : f32[2]\noutput b\n") == "2:8");
  CHECK(place_in("input x : f32[2]\nbuffer b : f32[2]\nb[i] = y[i]\noutput b\n") == "3:8");
  CHECK(place_in("input x : f32[2]\ns = sum(x)\ng = vjp(s; y)\noutput g\n") == "3:12");
  CHECK(place_in("input x : f32[2]\ns = sum(x)\ng = vjp(s, x)\noutput g\n") == "3:5");
  CHECK(place_in("input x : f32[2]\ny = x + 1\noutput y\n") == "2:7");
  CHECK(place_in("input x : f32[2]\noutput x\n") == "nothing");
}

TEST_CASE("whoever made a program without a text gets the message as it was", "[sound][program]") {
  Program program = parse_program("input x : f32[2]\ny = relu(x)\noutput y\n");
  std::get<Call>(program.steps[0]).operands[0] = "z";
  CHECK_THROWS_WITH(verify(program), "y = relu(z): unknown value 'z'; did you mean 'x'?");
  CHECK_THROWS_AS(verify(program), SpecViolation);
}
