// The tasks whose rows are sequences come to what docs/training.md says of them.
#include <catch2/catch.hpp>

#include <filesystem>
#include <sstream>
#include <string>

#include "spec/error.hpp"
#include "training/report.hpp"
#include "training/tasks/shipped.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {
namespace {

TrainOptions quiet(const std::string& task, const std::string& model) {
  TrainOptions options;
  options.task = task;
  options.model = model;
  options.plots = false;
  return options;
}

TrainResult trained(const std::string& task, const std::string& model) {
  std::ostringstream console;
  return train(quiet(task, model), console);
}

}  // namespace

TEST_CASE("a_transformer_and_recurrent_layers_answer_every_symbol_of_strings_they_never_saw", "[tasks]") {
  const std::string model = GENERATE("transformer", "gru", "lstm");
  INFO(model);
  CHECK(trained("register", model).test_accuracy == 1);
}

TEST_CASE("a_gpt_is_surprised_a_quarter_less_than_counts_of_pairs", "[tasks]") {
  const TrainResult gpt = trained("text", "gpt");
  REQUIRE(gpt.test_perplexity);
  REQUIRE(gpt.bigram_perplexity);
  CHECK(*gpt.test_perplexity < 0.75 * *gpt.bigram_perplexity);
  const TrainResult bigram = trained("text", "bigram");
  CHECK(*bigram.bigram_perplexity == *gpt.bigram_perplexity);
  CHECK(*bigram.test_perplexity < *bigram.bigram_perplexity);
  CHECK(*gpt.test_perplexity < 0.75 * *bigram.test_perplexity);
}

TEST_CASE("names_are_less_surprising_after_three_letters_than_after_one", "[tasks]") {
  const TrainResult names = trained("names", "");
  REQUIRE(names.test_perplexity);
  CHECK(*names.test_perplexity < *names.bigram_perplexity);
}

TEST_CASE("a_run_of_sequences_that_is_stopped_comes_to_the_uninterrupted_result", "[tasks]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "etalon-sequences-run";
  std::filesystem::remove_all(folder);
  TrainOptions options = quiet("text", "bigram");
  options.epochs = 2;
  std::ostringstream console;
  const TrainResult whole = train(options, console);
  options.run = folder;
  int steps = 0;
  options.should_stop = [&] { return ++steps > 30; };
  CHECK(train(options, console).ending.status == Ending::Status::stopped);
  options.should_stop = {};
  const TrainResult resumed = resume(options, console);
  REQUIRE(resumed.ending.status == Ending::Status::finished);
  CHECK(resumed.test_perplexity == whole.test_perplexity);
  CHECK(resumed.last_epoch_loss == whole.last_epoch_loss);
  std::filesystem::remove_all(folder);
}

TEST_CASE("tasks_and_models_are_met_by_their_names", "[tasks]") {
  CHECK(task_names() == std::vector<std::string>{"digits", "moons", "names", "register", "text"});
  CHECK(models_of("text") == std::vector<std::string>{"gpt", "bigram"});
  CHECK_THROWS_WITH(models_of("txt"), Catch::Contains("text"));
  CHECK_THROWS_WITH(task_named("register", "gro"), Catch::Contains("gru"));
  CHECK_THROWS_WITH(shipped("register", "gru", "x", 1), "training: the strings of the register are made; --data belongs to other tasks");
  for (const std::string& task : task_names()) {
    for (const std::string& model : models_of(task)) CHECK_FALSE(task_named(task, model).parameters.entries().empty());
  }
}

}  // namespace etalon::training
