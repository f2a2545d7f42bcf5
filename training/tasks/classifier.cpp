#include "training/tasks/classifier.hpp"

#include "spec/library/operations.hpp"

namespace etalon::training {

Task classifier(std::string name, double peak, double weight_decay) {
  Task task;
  task.name = std::move(name);
  task.loss = [](const Traced& answers, const Traced& classes) { return ops::cross_entropy(answers, classes, spec::absent); };
  task.rate = [peak](const Traced& step_n, std::int64_t steps) {
    return ops::linear_schedule.set("initial", peak).set("steps", steps)(step_n);
  };
  task.groups = {{"*", {"adamw", {}, weight_decay}}};
  return task;
}

}  // namespace etalon::training
