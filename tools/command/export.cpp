#include <iostream>
#include <memory>
#include <string>

#include "spec/error.hpp"
#include "tools/command/command.hpp"

#ifdef ETALON_HAS_COMPILED
#include <fmt/format.h>

#include "spec/file.hpp"
#include "training/run/export.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* export_examples = R"(
The newest checkpoint that is whole, the same bytes for the same state. bf16 has no form in npz.

Examples
  etalon export safetensors r -o model.safetensors
  etalon export npz r -o model.npz            numpy.load("model.npz")["hidden.weight"]
  etalon export npz r --state -o state.npz    with what the optimizer keeps, the step count and the seed)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

namespace {

struct ExportWords {
  std::string format;
  std::string run;
  std::string output;
  bool state = false, best = false;
};

void export_run(const ExportWords& words) {
  check_writable(words.output);
  const training::Exported exported = training::export_run(words.run, words.format, words.state, words.best);
  for (const std::string& line : exported.refused) std::cerr << line << '\n';
  write_file(words.output, exported.bytes);
  std::cout << fmt::format("{}: {} tensors after step {} of {}\n", words.output, exported.tensors, exported.step,
                           exported.steps);
}

}  // namespace

void add_export(Command app, Outcome& outcome) {
  Command command = app.command("export", "Write the parameters of a training run for other tools");
  command.footer(export_examples);
  auto words = std::make_shared<ExportWords>();
  command.option("format", words->format, "npz or safetensors").required().one_of({"npz", "safetensors"});
  command.option("run", words->run, "The folder of the run").required();
  command.option("-o,--output", words->output, "The file").required();
  command.flag("--state", words->state, "All of the state, not the parameters alone");
  command.flag("--best", words->best, "After the epoch with the lowest validation loss, not the newest");
  command.callback([words, &outcome] {
    export_run(*words);
    outcome.status = 0;
  });
}

#else

void add_export(Command app, Outcome&) {
  Command command = app.command("export", "Write the parameters of a training run for other tools (not in this build)");
  command.footer(export_examples);
  command.allow_extras();
  command.callback([] { throw Unsupported("export: not in this build"); });
}

#endif

}  // namespace etalon::command
