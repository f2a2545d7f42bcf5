#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "conformance/interchange/stablehlo/expected.hpp"
#include "conformance/judge.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/imported.hpp"

namespace etalon::command {
namespace {

namespace stablehlo = conformance::stablehlo;

constexpr const char* stablehlo_examples = R"(
A module of StableHLO, in text, becomes a program of the library's operations (docs/stablehlo.md), which etalon check, run,
compile and serve take. What is not offered is refused all at once, by line and instruction.
Examples
  etalon import stablehlo model.mlir -o step.txt
  etalon run step.txt --set arg0=1 --backend cpu
  etalon import stablehlo test.mlir --judge                   judges the numbers that the module itself expects
  etalon import stablehlo test.mlir --judge --backend cpu     judges the backend's
  etalon import stablehlo test.mlir --check --backend cpu     compares the backend's with them, bit for bit
Exit status: 0 done, and with --judge or --check: nothing failed and something was compared; 1 otherwise; 2 the module is refused.)";

struct StablehloWords {
  std::string model, out, function, backend, contract = "ieee";
  bool judge = false, check = false, json = false;
};

[[nodiscard]] int judge_expected(const StablehloWords& words, const stablehlo::Imported& imported,
                                 const std::string& file) {
  const stablehlo::Question question = stablehlo::question_of(imported, file);
  const spec::Answer answer =
      words.backend.empty() ? spec::Answer(question.expected) : make_backend(words.backend)->run(question.request);
  return show_verdict(conformance::judge(question.request, answer, contract_of(words.contract)), file, words.json);
}

/// Of the backend, or the reference.
[[nodiscard]] int check_expected(const StablehloWords& words, const stablehlo::Imported& imported,
                                 const std::string& file) {
  const stablehlo::Question question = stablehlo::question_of(imported, file);
  const spec::Answer answer = make_backend(words.backend.empty() ? "reference" : words.backend)->run(question.request);
  const auto* numbers = std::get_if<spec::Numbers>(&answer);
  if (numbers == nullptr) throw Unsupported(fmt::format("{}: {}", file, std::get<spec::Refusal>(answer).why));
  std::size_t elements = 0;
  bool is_equal = numbers->outputs.size() == question.expected.outputs.size();
  for (std::size_t i = 0; is_equal && i < numbers->outputs.size(); ++i) {
    is_equal = numbers->outputs[i] == question.expected.outputs[i];
    elements += static_cast<std::size_t>(numbers->outputs[i].dims.count());
    if (!is_equal) std::cout << fmt::format("{}:{}: another number is expected\n", file, imported.expectations[i].line);
  }
  if (is_equal) std::cout << fmt::format("{}: {} elements as expected\n", file, elements);
  return is_equal && elements > 0 ? 0 : 1;
}

[[nodiscard]] int import_module(const StablehloWords& words) {
  stablehlo::ImportOptions options;
  options.file = std::filesystem::path(words.model).filename().string();
  options.function = words.function;
  const stablehlo::Imported imported =
      stablehlo::import_module(stablehlo::read_module(read_file(words.model), options.file), options);
  require_offered(imported.refused);
  const std::string text = to_text(imported.program);
  if (!words.out.empty()) write_file(words.out, text);
  if (words.judge) return judge_expected(words, imported, options.file);
  if (words.check) return check_expected(words, imported, options.file);
  if (words.out.empty()) std::cout << text;
  return 0;
}

}  // namespace

void add_import_stablehlo(Command import_, Outcome& outcome) {
  Command model = import_.command("stablehlo", "A module of StableHLO, in text");
  model.footer(stablehlo_examples);
  auto words = std::make_shared<StablehloWords>();
  model.option("model", words->model, "The module's file").required();
  model.option("-o,--out", words->out, "The program's file; without it, --judge and --check the program is printed");
  model.option("--function", words->function, "The function; without it main, or the only one");
  const Option judge =
      model.flag("--judge", words->judge, "Judge the numbers that a module without arguments expects of its values");
  model
      .flag("--check", words->check,
            "Run the module, and compare with what it expects, bit for bit: for tests that judge")
      .excludes(judge);
  model.option("--backend", words->backend,
               "Judge what this backend answers instead; with --check: who runs it, without it the reference");
  model.option("--contract", words->contract, "What the answers promise: a shipped contract by name, or a JSON file")
      .with_default();
  model.flag("--json", words->json, "The verdict as one line of JSON").needs(judge);
  model.callback([words, &outcome] { outcome.status = import_module(*words); });
}

}  // namespace etalon::command
