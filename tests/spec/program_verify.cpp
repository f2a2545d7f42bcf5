#include <catch2/catch.hpp>

#include "spec/error.hpp"
#include "spec/program/binding.hpp"
#include "spec/program/program.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

[[nodiscard]] std::string refusal(std::string_view text) {
  try {
    verify(parse_program(text));
  } catch (const SpecViolation& error) {
    return error.what();
  }
  return "accepted";
}

const std::string head = "input x : f32[2, 3] @ \"net.cpp\":3\nparameter w : f32[3, 4]\nindex n : i64[] in 0..9 @ \"net.cpp\":5\n";

}  // namespace

TEST_CASE("the types of a program follow from its inputs", "[program]") {
  const auto types = types_of(parse_program(head + "h = matmul(x, w)\ns = sum(h)\ng, k = vjp(s; w, h)\nt = jvp(h; x; x)\noutput s, g\n"));
  CHECK(types.at("h") == ValueType{DType::f32, {2, 4}});
  CHECK(types.at("s") == ValueType{DType::f32, {}});
  CHECK(types.at("g") == ValueType{DType::f32, {3, 4}});
  CHECK(types.at("k") == ValueType{DType::f32, {2, 4}});
  CHECK(types.at("t") == ValueType{DType::f32, {2, 4}});
  CHECK(types.at("n") == ValueType{DType::i64, {}});
}

TEST_CASE("an ill-typed call names step, rule, expected, found and source line", "[program]") {
  const std::string message = refusal("input x : f32[2, 3]\ninput w : f32[4, 4]\nh = matmul(x, w) @ \"net.cpp\":12\n");
  CHECK(message.find("matmul: k is 3 in a, 4 in b") == 0);
  CHECK(message.find("; step h = matmul(x, w) at net.cpp:12") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
  const std::string labelled = refusal("input x : f32[2, 3]\nh = relu(z) @ \"net.cpp\":12 section \"w3 step\"\n");
  CHECK(labelled.find("h = relu(z) at net.cpp:12 in section \"w3 step\": unknown value 'z'") == 0);
}

TEST_CASE("names are known, well formed and given once", "[program]") {
  CHECK(refusal(head + "y = relu(z) @ \"net.cpp\":7\n") == "y = relu(z) at net.cpp:7: unknown value 'z'; did you mean 'n'?");
  CHECK(refusal(head + "y = rleu(x)\n") == "unknown operation 'rleu'; did you mean 'relu'?; step y = rleu(x)");
  CHECK(refusal(head + "w = relu(x)\n") == "w = relu(x): w is named a second time; each value is named once");
  CHECK(refusal(head + "y, z = relu(x)\n") == "y, z = relu(x): expected 1 results, found 2");
  CHECK(refusal(head + "output y\n") == "output y: unknown value 'y'; did you mean 'n'?");
  CHECK(refusal(head + "output x, x\n") == "output x: named a second time; outputs are distinct");
  CHECK(refusal("index n : f32[]\n") == "input n: an index is an integer scalar, found f32[]");
  CHECK(refusal("index n : i64[] in 3..2\n") == "input n: the range 3..2 is empty");
  CHECK(refusal("input n : i64[] in 0..2\n") == "input n: only an index has a range");
  CHECK(refusal("input x : f32[4294967296, 4294967296]\n") == "input x: f32[4294967296, 4294967296] is more than 64 bits can address");
  CHECK(refusal("input x : f32[]\ny = broadcast_to(x) {shape = [4294967296, 4294967296]}\n") ==
        "broadcast_to: y would be f32[4294967296, 4294967296], more than 64 bits can address (at 2:44 of its definition); "
        "step y = broadcast_to(x)");
  CHECK(refusal("constant c : f32[]\n") == "input c: a constant has a value, found none");
  Program program;
  program.inputs.push_back({"2x", DType::f32, {}, Role::input, {}, {}, {}});
  CHECK_THROWS_WITH(verify(program), "input 2x: a name is letters, digits, _ and ., and starts with a letter, found '2x'");
}

TEST_CASE("a derivative without meaning is an error that names the value and its source line", "[program]") {
  CHECK(refusal(head + "h = matmul(x, w) @ \"net.cpp\":6\ng = vjp(h; x) @ \"net.cpp\":9\n") ==
        "g = vjp(h; x) at net.cpp:9: expected a cotangent of h (from net.cpp:6) f32[2, 4], found none; only a lone scalar has the default 1");
  CHECK(refusal(head + "s = sum(x)\ng = vjp(s; n) @ \"net.cpp\":9\n") ==
        "g = vjp(s; n) at net.cpp:9: n (from net.cpp:5) is i64, derivatives are taken by real values");
  CHECK(refusal(head + "constant c : f32[] = 2.0\ns = sum(x)\ng = vjp(s; c)\n") ==
        "g = vjp(s; c): c is a constant, derivatives are taken by inputs, parameters and results");
  CHECK(refusal(head + "k = argmax(x)\ng = vjp(k; x; k)\n") == "g = vjp(k; x; k): k is i64, only real values have derivatives");
  CHECK(refusal(head + "s = sum(x)\ng = jvp(s; x)\n") == "g = jvp(s; x): expected a tangent of x (from net.cpp:3) f32[2, 3], found none");
  CHECK(refusal(head + "s = sum(x)\ng = jvp(s; x; w)\n") == "g = jvp(s; x; w): the tangent of x is f32[2, 3], found w f32[3, 4]");
  CHECK(refusal(head + "s = sum(x)\ng, h = vjp(s; x)\n") == "g, h = vjp(s; x): expected 1 results, found 2");
}

TEST_CASE("only parameters are updated, once, by values of their type", "[program]") {
  CHECK(refusal(head + "update x := x\n") == "update x := x: only a parameter is updated, x is none");
  CHECK(refusal(head + "update w := x\n") == "update w := x: expected f32[3, 4], found f32[2, 3]");
  CHECK(refusal(head + "update w := w\nupdate w := w\n") == "update w := w: the parameter is updated a second time");
  CHECK(refusal(head + "v = neg(w)\nupdate w := v\n") == "accepted");
}

TEST_CASE("a run-time attribute is a numeric scalar", "[program]") {
  const std::string step = "parameter m : f32[3, 4]\nparameter q : f32[3, 4]\n";
  CHECK(refusal(head + step + "w1, m1 = sgd(w, q, m, n) {lr = $x}\n") ==
        "w1, m1 = sgd(w, q, m, n): attribute lr: expected a numeric scalar, found x f32[2, 3]");
  CHECK(refusal(head + step + "w1, m1 = sgd(w, q, m, n) {lr = $n}\n") == "accepted");
}

TEST_CASE("values are bound by type and inside the declared range", "[program]") {
  const Program program = parse_program("input x : f32[2]\nindex n : i64[] in 0..9\noutput x\n");
  const HostTensor x = HostTensor::of<float>({2}, {1, 2});
  const auto bind = [&](std::vector<HostTensor> values) { verify_inputs(program, values); };
  CHECK_NOTHROW(bind({x, HostTensor::of<std::int64_t>({}, {9})}));
  CHECK_THROWS_WITH(bind({x, HostTensor::of<std::int64_t>({}, {10})}), "input n: expected a value in 0..9, found 10");
  CHECK_THROWS_WITH(bind({x}), "inputs: expected 2 values, found 1");
  CHECK_THROWS_WITH(bind({HostTensor::of<float>({1}, {1}), HostTensor::of<std::int64_t>({}, {0})}), "input x: expected f32[2], found f32[1]");
}
