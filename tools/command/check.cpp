#include <iostream>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "spec/program/program.hpp"
#include "spec/system/simplify.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"

namespace etalon::command {
namespace {

constexpr const char* check_examples = R"(
A program in a file is text such as
  input x : f32[2, 3]
  parameter w : f32[3, 4]
  h = matmul(x, w)
  loss = sum(h)
  gw = vjp(loss; w)
  output loss, gw
or its JSON form. Example
  etalon check step.txt --equations)";

void check(const std::string& path, const std::string& definitions, bool equations, bool json) {
  const spec::Program program = program_in_file(path, definitions);
  const std::map<std::string, spec::ValueType> types = types_of(program);
  if (json) {
    std::cout << program_line(program) << '\n';
    return;
  }
  std::cout << to_text(program);
  if (equations) {
    spec::System system = lower(program);
    std::cout << '\n' << to_text(system);
  }
  std::cout << fmt::format("\n{}: well typed, {} step{}, {} value{}\n", path, program.steps.size(),
                           program.steps.size() == 1 ? "" : "s", types.size(), types.size() == 1 ? "" : "s");
}

}  // namespace

void add_check(Command app, Outcome& outcome) {
  Command command = app.command("check", "Check the names and types of a program in a file");
  command.footer(check_examples);
  auto path = std::make_shared<std::string>();
  auto equations = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  command.option("file", *path, "The program, as text or JSON").required();
  command.flag("--equations", *equations, "Also print the equations it stands for");
  command.flag("--json", *json, "Print the program as one line of JSON instead");
  auto definitions = std::make_shared<std::string>();
  command.option("--definitions", *definitions, "A file with definitions of your own");
  command.callback([=, &outcome] {
    check(*path, *definitions, *equations, *json);
    outcome.status = 0;
  });
}

}  // namespace etalon::command
