// One's own table: read, split, trained, saved, and read back. Usage: own_data FILE.csv TARGET MODEL.safetensors
#include <cstdio>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "training/data/examples.hpp"
#include "training/files/safetensors.hpp"
#include "training/files/starting_values.hpp"
#include "training/tasks/perceptron.hpp"
#include "training/trainer.hpp"
using namespace etalon;
using namespace etalon::training;

int main(int argc, char** argv) try {
  if (argc != 4) throw SpecViolation("expected FILE.csv TARGET MODEL.safetensors");
  DataChoice choice;
  choice.target = argv[2];
  const Examples examples = read_examples({argv[1]}, choice);  // a row that is wrong is refused here, with its line
  const Split split = split_of(examples, 0.2, 1);
  const Dataset rows = select_rows(examples.data, split.train), held = select_rows(examples.data, split.validation);
  const Task task = perceptron(perceptron_for(examples, {.hidden = {16}}));  // or any Task of your own

  Trainer trainer(task, rows, {.seed = 1, .epochs = 60, .batch = 16}, held);
  trainer.state().upload(scaling_of(examples, split.train), Upload::partial);
  trainer.run([](const StepRecord& step) {
    if (step.validation_loss && step.epoch % 20 == 0) std::printf("epoch %d: %.3f\n", static_cast<int>(step.epoch), *step.validation_loss);
  });
  write_file(argv[3], safetensors_of(trainer.state().download(Part::parameters)));

  Trainer other(task, rows, {.seed = 2, .batch = 16});
  other.state().upload(read_starting_values(argv[3], {}, other.state().parameters()));
  const bool same = other.answers(held.inputs) == trainer.answers(held.inputs);
  std::printf("accuracy %.2f, read back %s\n", other.accuracy(held), same ? "the same" : "another");
  return same ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
