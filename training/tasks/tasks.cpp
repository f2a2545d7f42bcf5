#include "training/tasks/tasks.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::training {

namespace {

void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) == known.end()) throw SpecViolation(unknown_name(what, name, known));
}

}  // namespace

Task task_named(const std::string& task, const std::string& model) {
  require_known("task", task, {"digits", "moons", "own"});
  if (task == "own") throw SpecViolation("the task own has the model that its run says, none that ships");
  if (task == "moons") return moons();
  require_known("model of digits", model, {"mlp", "cnn"});
  return model == "mlp" ? digits_mlp() : digits_cnn();
}

}  // namespace etalon::training
