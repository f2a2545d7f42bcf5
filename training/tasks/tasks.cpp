#include "training/tasks/tasks.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "training/tasks/sequences.hpp"

namespace etalon::training {

namespace {

/// The models of a task in order, its usual one first.
struct Shelf {
  std::string_view task, model;
  Task (*make)();
};
constexpr std::array<Shelf, 9> shelves{{{"digits", "mlp", digits_mlp},
                                        {"digits", "cnn", digits_cnn},
                                        {"moons", "mlp", moons},
                                        {"names", "mlp", names_mlp},
                                        {"register", "transformer", register_transformer},
                                        {"register", "gru", register_gru},
                                        {"register", "lstm", register_lstm},
                                        {"text", "gpt", text_gpt},
                                        {"text", "bigram", text_bigram}}};

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const Shelf& shelf : shelves) {
    if (names.empty() || names.back() != shelf.task) names.emplace_back(shelf.task);
  }
  return names;
}

std::vector<std::string> models_of(const std::string& task) {
  std::vector<std::string> models;
  for (const Shelf& shelf : shelves) {
    if (shelf.task == task) models.emplace_back(shelf.model);
  }
  if (models.empty()) throw SpecViolation(unknown_name("task", as_quoted(task), task_names()));
  return models;
}

Task task_named(const std::string& task, const std::string& model) {
  if (task == "own") throw SpecViolation("the task own has the model that its run says, none that ships");
  const std::vector<std::string> models = models_of(task);
  const auto is_it = [&](const Shelf& shelf) { return shelf.task == task && shelf.model == model; };
  const auto found = std::find_if(shelves.begin(), shelves.end(), is_it);
  if (found == shelves.end()) throw SpecViolation(unknown_name("model of " + task, as_quoted(model), models));
  return found->make();
}

}  // namespace etalon::training
