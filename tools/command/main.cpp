#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "spec/file.hpp"
#include "spec/nearest.hpp"
#include "tools/command/command.hpp"
#include "tools/command/configuration.hpp"
#include "tools/command/terminal.hpp"

namespace {

using namespace etalon;

constexpr const char* description =
    "The standard that tensor backends are checked against: every operation is one readable equation.\n";

constexpr const char* main_examples = R"(
Examples
  etalon explain softmax              what an operation means, its derivative and its error bound
  etalon conform --backend cpu        hold a backend to the definitions
  etalon run step.txt                 what a program computes, by the reference
  etalon import onnx model.onnx       a model of ONNX as such a program, or why it is none
  etalon log diff A B                 the first assignment of two runs' logs that is wrong
  etalon check step.txt               types and equations of a program in a file
  etalon compile step.txt             what the compiler makes of it, pass by pass
  etalon serve --backend reference    answer questions of your own test suite, one JSON line each
  etalon judge < pairs.jsonl          judge answers that were collected elsewhere
  etalon judge-kernel k.c --operation softmax   a verdict on one kernel in C, C++ or Python
  etalon pack write -o packs          golden tests with all that their answers may be, for who has no Etalon
  etalon report render run.jsonl      a run in other formats; diff compares two, scoreboard sums up many
  etalon adapter check COMMAND        what an adapter of yours gets wrong of the protocol
  etalon contract list                what backends may promise of their arithmetic
  etalon train digits --run r         train on the shipped digits, and keep the run in a folder
  etalon resume r                     go on with it after whatever ended it: the same bits
  etalon export npz r -o model.npz    its parameters for other tools
  etalon bench --only gemm            how fast the compiled backend is, beside others
  etalon devices                      where programs can run
  etalon config                       what is configured, and where each value comes from

Exit status: 0 done, 1 the answer is no, 2 usage or set-up error; of training runs also 3, 4 and 130.)";

/// The innermost command that was named.
[[nodiscard]] const CLI::App& scope_of(const CLI::App& app) {
  const CLI::App* scope = &app;
  while (!scope->get_subcommands().empty()) scope = scope->get_subcommands().front();
  return *scope;
}

/// The names that could stand where `word` stands.
[[nodiscard]] std::vector<std::string> alternatives(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  const CLI::App& scope = scope_of(app);
  if (word.substr(0, 1) != "-") {
    for (const CLI::App* sub : scope.get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
    return names;
  }
  for (const CLI::Option* option : scope.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// One line that names the unknown word and the nearest valid one.
[[nodiscard]] std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(true);
  const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error);
  if (extras != nullptr && !rest.empty()) {
    const std::string word = rest.front().substr(0, rest.front().find('='));
    const bool is_option = word.substr(0, 1) == "-";
    const std::vector<std::string> known = alternatives(app, word);
    if (!is_option && known.empty()) return "unexpected argument '" + word + "'";
    return unknown_name(is_option ? "option" : "command", word, known);
  }
  std::string line = error.what();
  // `--seed: 1 required UINT missing`
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && line.ends_with(" missing"))
    return line.substr(0, line.find(": ")) + ": expected a value, found none";
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

/// Whether all of standard output arrived; else says on standard error why not.
[[nodiscard]] bool is_printed() {
  std::cout.flush();
  if (std::cout) return true;
  // Which write failed, and why, is not known any more: the next one fails alike.
  std::cout.clear();
  errno = 0;
  std::cout << std::endl;
  std::cerr << file_error("standard output", "cannot be written", errno).what() << '\n';
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(description, "etalon");
  app.footer(main_examples);
  app.set_version_flag("--version", std::string("etalon ") + ETALON_VERSION);
  app.require_subcommand(0, 1);
  const command::Command commands(app);
  command::Outcome outcome;
  command::add_explain(commands, outcome);
  command::add_door(commands, outcome);
  command::add_spec(commands, outcome);
  command::add_check(commands, outcome);
  command::add_run(commands, outcome);
  command::add_import(commands, outcome);
  command::add_log(commands, outcome);
  command::add_compile(commands, outcome);
  command::add_tune(commands, outcome);
  command::add_serve(commands, outcome);
  command::add_conform(commands, outcome);
  command::add_judge(commands, outcome);
  command::add_judge_kernel(commands, outcome);
  command::add_pack(commands, outcome);
  command::add_contract(commands, outcome);
  command::add_report(commands, outcome);
  command::add_adapter(commands, outcome);
  command::add_train(commands, outcome);
  command::add_resume(commands, outcome);
  command::add_export(commands, outcome);
  command::add_certify(commands, outcome);
  command::add_verify(commands, outcome);
  command::add_audit(commands, outcome);
  command::add_dispute(commands, outcome);
  command::add_trace(commands, outcome);
  command::add_certify_robust(commands, outcome);
  command::add_bench(commands, outcome);
  command::add_devices(commands, outcome);
  command::add_config(commands, outcome);
  command::add_complete(commands, outcome);
  std::ios::sync_with_stdio(false);
  try {
    app.parse(command::Configuration(app, std::filesystem::current_path()).completed({argv + 1, argv + argc}));
  } catch (const CLI::Success& done) {
    const int status = app.exit(done);
    return is_printed() ? status : 2;
  } catch (const CLI::ParseError& error) {
    std::cerr << complaint(app, error) << '\n';
    return 2;
  } catch (const std::exception& error) {
    return command::say_what_is_wrong(error);
  }
  if (app.get_subcommands().empty()) {
    std::cerr << "a command is missing; etalon --help lists them\n";
    return 2;
  }
  return is_printed() ? outcome.status : 2;
}
