#include "conformance/door/door.hpp"

#include <iostream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "spec/protocol/json.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

constexpr const char* door_examples = R"(
Examples
  echo '{"kind": "check", "program": "input x : f32[2]\ny = exp(x)\noutput y"}' | etalon door
  echo '{"kind": "derive", "operation": "softmax"}' | etalon door
  echo '{"kind": "explain", "definitions": "twice(x[...]) -> y[...]\n  y[...] = 2*x[...]\n"}' | etalon door
One request on standard input, one line of answer: docs/door.md. Exit status: 0 it is answered, 1 the answer is no.)";

}  // namespace

void add_door(Command app, Outcome& outcome) {
  Command command = app.command("door", "Answer one question about texts: JSON in, JSON out");
  command.footer(door_examples);
  command.callback([&outcome] {
    const std::string request(std::istreambuf_iterator<char>(std::cin), {});
    const std::string answer = conformance::door(request);
    std::cout << answer << '\n';
    outcome.status = spec::Json::parse(answer).at("ok").get<bool>() ? 0 : 1;
  });
}

}  // namespace etalon::command
