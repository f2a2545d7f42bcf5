#include "conformance/judge.hpp"

#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

constexpr const char* judge_examples = R"(
Examples
  etalon judge < pairs.jsonl                        each line {"request": R, "answer": A}, as in Protocol 1
  etalon judge --contract backend.json < pairs.jsonl
For a backend that cannot be asked while the suite runs: a simulator, a queue, another machine. One line of verdict per
pair. Exit status: 0 nothing failed and something was compared, 1 otherwise, 2 a line that is no pair.)";

[[nodiscard]] int judge_all(const spec::Contract& contract) {
  bool failed = false;
  std::size_t compared = 0;
  std::size_t lines = 0;
  std::string line;
  while (std::getline(std::cin, line)) {
    ++lines;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    conformance::Outcome outcome;
    try {
      std::cout << conformance::judge_line(line, contract, outcome) << '\n' << std::flush;
    } catch (const std::exception& error) {
      throw SpecViolation(fmt::format("standard input:{}: {}", lines, error.what()));
    }
    failed = failed || outcome.verdict == conformance::Verdict::fail;
    compared += outcome.comparisons - outcome.undecided;
  }
  if (compared == 0 && !failed) std::cerr << fmt::format("nothing was compared: expected pairs on standard input, found {} lines\n", lines);
  return failed || compared == 0 ? 1 : 0;
}

}  // namespace

void add_judge(Command app, Outcome& outcome) {
  Command command = app.command("judge", "Judge answers that were collected elsewhere");
  command.footer(judge_examples);
  auto contract = std::make_shared<std::string>("ieee");
  command.option("--contract", *contract, "What the answers promise: a shipped contract by name, or a JSON file")
      .with_default();
  command.callback([contract, &outcome] { outcome.status = judge_all(contract_of(*contract)); });
}

}  // namespace etalon::command
