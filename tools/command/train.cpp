#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>


#include "spec/error.hpp"
#include "tools/command/command.hpp"
#include "tools/command/terminal.hpp"

#ifdef ETALON_HAS_COMPILED
#include "compiled/cache_folder.hpp"
#include "tools/command/devices.hpp"
#include "training/report.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* train_examples = R"(
Examples
  etalon train digits
  etalon train digits --model cnn --seed 3 --svg plots
  etalon train moons --every 100
  etalon train digits --grain 8 --devices 3
  etalon train digits --grain 8 --devices 3 --plan
The same seed gives the same numbers. Compiled code is kept for the next run in ETALON_CACHE, or in ~/.cache/etalon;
ETALON_CACHE=off keeps none.)";

}  // namespace

#ifdef ETALON_HAS_COMPILED

void add_train(Command app, Outcome& outcome) {
  Command command = app.command("train", "Train on the digits or on the half-moons");
  command.footer(train_examples);
  auto options = std::make_shared<training::TrainOptions>();
  auto data = std::make_shared<std::string>();
  auto svg = std::make_shared<std::string>();
  auto backend = std::make_shared<std::string>("cpu");
  auto quiet = std::make_shared<bool>(false);
  command.option("task", options->task, "digits or moons").required();
  command.option("--model", options->model, "Of digits: mlp or cnn").with_default();
  command.option("--seed", options->seed, "Feeds initialisation, shuffling and dropout").with_default();
  command.option("--epochs", options->epochs, "Passes over the data; 0 is the task's own number").between(0, 1000000).with_default();
  command.option("--every", options->every, "Print every that many steps; 0 is once an epoch or rarer").between(0, 1000000000).with_default();
  command.option("--batch", options->batch, "Rows of a step; 0 is the task's own number").between(0, 1000000000).with_default();
  command.option("--grain", options->grain, "Rows of a leaf, which divide the batch; 0 is the batch. Leaves are computed one by one, and their sums are the step's").between(0, 1000000000).with_default();
  command.option("--devices", options->devices, "That compute leaves at the same time; the numbers do not depend on it").between(1, 1024).with_default();
  command.option("--threads", options->threads, "Of the compiled step; the numbers do not depend on it").with_default();
  command.option("--backend", *backend, "Where steps run: cpu, cuda-emulated or cuda").with_default();
  command.option("--data", *data, "The digits in a file of your own");
  command.option("--svg", *svg, "Write the plots into this folder");
  command.flag("--plan", options->plan, "Print which device would compute and send what in a step, and run nothing");
  command.flag("--no-plots", *quiet, "No plots in the terminal");
  command.callback([=, &outcome] {
    options->data = *data;
    options->svg = *svg;
    options->cache = compiled::default_cache_folder();
    options->device = device_named(*backend, options->cache);
    options->plots = !*quiet;
    options->progress = isatty(STDOUT_FILENO) != 0;
    options->columns = output_columns().value_or(options->columns);
    (void)training::train(*options, std::cout);
    outcome.status = 0;
  });
}

#else

void add_train(Command app, Outcome&) {
  Command command = app.command("train", "Train on the digits or on the half-moons (not in this build)");
  command.footer(train_examples);
  command.allow_extras();
  command.callback([] { throw Unsupported("train: not in this build"); });
}

#endif

}  // namespace etalon::command
