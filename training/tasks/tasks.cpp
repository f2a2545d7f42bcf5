#include "training/tasks/tasks.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "training/tasks/sequences.hpp"

namespace etalon::training {

namespace {

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation(unknown_name(what, name, known));
}

}  // namespace

Task task_named(const std::string& task, const std::string& model) {
  using Make = Task (*)();
  static constexpr std::array<std::tuple<std::string_view, std::string_view, Make>, 9> all{{
      {"digits", "mlp", digits_mlp}, {"digits", "cnn", digits_cnn}, {"moons", "mlp", moons},
      {"text", "gpt", text_gpt}, {"text", "bigram", text_bigram}, {"names", "mlp", names_mlp},
      {"register", "transformer", register_transformer}, {"register", "gru", register_gru}, {"register", "lstm", register_lstm}}};
  std::vector<std::string> tasks, models;
  for (const auto& [of, name, make] : all) {
    if (tasks.empty() || tasks.back() != of) tasks.emplace_back(of);
    if (of == task) models.emplace_back(name);
    if (of == task && name == model) return make();
  }
  require_known("task", task, tasks);
  throw SpecViolation(unknown_name("model of " + task, model, models));
}

}  // namespace etalon::training
