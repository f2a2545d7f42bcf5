/// \file
/// What is trained: the parameters of a model, how it turns inputs into answers, its loss, its optimizer and its
/// learning rate, with the model's type erased. It knows no data set.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "spec/program/trace.hpp"
#include "training/model/parameters.hpp"
#include "training/model/structure.hpp"
#include "training/optimizer.hpp"

namespace etalon::training {

/// The key of the random operations of one training step; without it (in evaluation) a model drops nothing.
template <template <class> class V>
struct Noise {
  V<spec::Typed<std::int64_t, Shape<>>> seed;
  V<spec::Typed<std::int64_t, Shape<>>> step;
};

/// A model with its loss. `forward` and `loss` write steps of a program.
struct Task {
  using Values = std::map<std::string, Traced>;

  std::string name;
  Parameters parameters;
  std::function<Traced(const Values& parameters, const Traced& inputs, const Noise<Untyped>* noise)> forward;
  std::function<Traced(const Traced& answers, const Traced& targets)> loss;  ///< a scalar
  std::function<Traced(const Traced& step_n, std::int64_t steps)> rate;      ///< of the step, counted from 0
  std::vector<Group> groups;
  std::vector<GradientOperation> before = {};  ///< what is done to the gradients first
  std::optional<LossScaling> loss_scaling = {};

  [[nodiscard]] Optimization optimization() const { return {parameters, groups, before, loss_scaling}; }
};

/// A model whose leaves are the values of these names, those that are tied being one.
template <template <template <class> class> class Model>
[[nodiscard]] Model<Untyped> model_of(const Parameters& parameters, const Task::Values& values) {
  Model<Untyped> model;
  for_each_leaf(model, [&](const std::string& path, Traced& leaf) { leaf = values.at(parameters.owner(path)); });
  return model;
}

/// Fills in a task's parameters and forward pass from a model of declarations and its forward function, which takes the
/// model, the inputs and the noise.
template <template <template <class> class> class Model, class Forward>
void use_model(Task& task, const Model<Declared>& model, Forward forward) {
  const Parameters parameters(model);
  task.parameters = parameters;
  task.forward = [forward, parameters](const Task::Values& values, const Traced& inputs, const Noise<Untyped>* noise) {
    return forward(model_of<Model>(parameters, values), inputs, noise);
  };
}

}  // namespace etalon::training
