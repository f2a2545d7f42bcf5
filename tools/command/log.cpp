#include <array>
#include <iostream>
#include <memory>
#include <string>


#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"
#include "tools/log/diff.hpp"
#include "tools/log/text.hpp"

namespace etalon::command {
namespace {

constexpr const char* log_examples = R"(
A log comes from etalon run --log-assignments. Each holds every number that the equations of a program were given and
gave, so that each assignment can be computed anew from the log alone: diff does so, on the operands that stand in that
log, and names the first assignment whose result lies outside its error bound. A fault is found where it was made, not
where it shows later. Then it says where the two logs first hold other bits, which need not be a fault. Example
  etalon run step.txt --set x=1,2,3 --log-assignments --log reference.log
  etalon run step.txt --set x=1,2,3 --log-assignments --log cpu.log --backend cpu
  etalon log diff reference.log cpu.log
Exit status: 0 both logs are within their bounds, 1 one is not, 2 they cannot be compared.)";

[[nodiscard]] logging::Log log_in(const std::string& path) { return logging::parse_log(read_file(path), path); }

[[nodiscard]] int diff(const std::array<std::string, 2>& paths, bool json) {
  const logging::Comparison comparison = logging::compare(log_in(paths[0]), log_in(paths[1]));
  std::cout << (json ? to_json(comparison, paths) + "\n" : to_text(comparison, paths));
  return comparison.within_bounds() ? 0 : 1;
}

}  // namespace

void add_log(Command app, Outcome& outcome) {
  Command log = app.command("log", "Compare what two backends computed, assignment by assignment");
  log.footer(log_examples);
  log.alone([] { throw SpecViolation("log: a command is missing; etalon log --help lists them"); });
  Command command = log.command("diff", "Judge every assignment of two logs, and say where they first differ");
  command.footer(log_examples);
  auto paths = std::make_shared<std::array<std::string, 2>>();
  auto json = std::make_shared<bool>(false);
  command.option("first", (*paths)[0], "A log, as text").required();
  command.option("second", (*paths)[1], "Another log of the same program").required();
  command.flag("--json", *json, "One line of JSON instead");
  command.callback([=, &outcome] { outcome.status = diff(*paths, *json); });
}

}  // namespace etalon::command
