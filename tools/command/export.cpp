#include <iostream>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "tools/command/command.hpp"
#include "tools/command/export_tests.hpp"

#ifdef ETALON_HAS_COMPILED
#include "spec/file.hpp"
#include "training/run/export.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* export_examples = R"(
Of a run: the newest checkpoint that is whole, the same bytes for the same state. bf16 has no form in npz.
onnx: tests of one node in ONNX's layout (docs/onnx.md). Each model takes the ends of what is admitted as inputs and answers
true; with --plain it answers numbers, and data.json states the least tolerance that covers what is admitted.
stablehlo: tests of one operation as modules that expect true of their own comparison (docs/stablehlo.md); with -o a program
as a module.

Examples
  etalon export safetensors r -o model.safetensors
  etalon export npz r -o model.npz            numpy.load("model.npz")["hidden.weight"]
  etalon export npz r --state -o state.npz    with what the optimizer keeps, the step count and the seed
  etalon export onnx tests --ops softmax,matmul
  etalon export onnx tests --ops softmax --plain
  etalon export onnx calls --ops softmax --expect     calls/softmax.py, for onnx/backend/test/case/node
  etalon export stablehlo tests --ops softmax,matmul
  etalon export stablehlo step.txt -o step.mlir)";

struct ExportWords {
  std::string format;
  std::string output;
  bool state = false, best = false;
  TestWords tests;  ///< its folder is that of the run for the other formats
};

#ifdef ETALON_HAS_COMPILED
void export_run(const ExportWords& words) {
  check_writable(words.output);
  const training::Exported exported = training::export_run(words.tests.folder, words.format, words.state, words.best);
  for (const std::string& line : exported.refused) std::cerr << line << '\n';
  write_file(words.output, exported.bytes);
  std::cout << fmt::format("{}: {} tensors after step {} of {}\n", words.output, exported.tensors, exported.step,
                           exported.steps);
}
#else
void export_run(const ExportWords& words) { throw Unsupported(fmt::format("export {}: not in this build", words.format)); }
#endif

}  // namespace

void add_export(Command app, Outcome& outcome) {
  Command command = app.command("export", "Write a run's parameters for other tools, or tests of backends of ONNX and StableHLO");
  command.footer(export_examples);
  auto words = std::make_shared<ExportWords>();
  command.option("format", words->format, "npz, safetensors, onnx or stablehlo").required().one_of({"npz", "safetensors", "onnx", "stablehlo"});
  command.option("folder", words->tests.folder, "The folder of the run, or that the tests are written in; a program's file").required();
  command.option("-o,--output", words->output, "The file, of npz, safetensors and a program");
  command.flag("--state", words->state, "All of the state, not the parameters alone");
  command.flag("--best", words->best, "After the epoch with the lowest validation loss, not the newest");
  command.option("--ops", words->tests.operations, "Of tests: only these operations, separated by commas").separated_by(',');
  command.option("--dtypes", words->tests.dtypes, "Of tests: only these element types; without it f32 and f64").separated_by(',');
  command.option("--tier", words->tests.tier, "Of tests: how many cases: quick, full or soak").with_default();
  command.option("--contract", words->tests.contract, "Of tests: what answers promise: a shipped contract by name, or a JSON file")
      .with_default();
  command.option("--seed", words->tests.seed, "Of tests: the same seed draws the same cases").with_default();
  command.flag("--plain", words->tests.plain, "Of tests: expected numbers and a tolerance instead of a verdict");
  command.flag("--expect", words->tests.expect, "Of onnx: plain ones as Python with calls of expect, for ONNX's own generator of tests");
  command.callback([words, &outcome] {
    if (words->format == "onnx") {
      export_onnx_tests(words->tests);
    } else if (words->format == "stablehlo") {
      if (words->output.empty()) export_stablehlo_tests(words->tests);
      else export_stablehlo_program(words->tests.folder, words->output);
    } else {
      if (words->output.empty()) throw SpecViolation("--output is required");
      export_run(*words);
    }
    outcome.status = 0;
  });
}

}  // namespace etalon::command
