/// \file
/// What is trained: the parameters of a model, how it turns inputs into answers, its loss, its optimizer and its
/// learning rate, with the model's type erased. It knows no data set.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "spec/program/trace.hpp"
#include "training/model/parameter.hpp"
#include "training/model/structure.hpp"

namespace etalon::training {

/// The key of the random operations of one training step; without it (in evaluation) a model drops nothing.
struct Noise {
  Traced seed;
  Traced step;
};

/// How parameters follow their gradients.
struct Optimizer {
  std::string operation;                       ///< of the library
  spec::Attributes attributes;                 ///< without the learning rate and the weight decay
  std::vector<std::string> state;              ///< names of its state tensors, one of each per parameter, zero at first
  double weight_decay = 0;                     ///< for the parameters that decay
};

/// A model with its loss. `forward` and `loss` write steps of a program.
struct Task {
  using Named = std::map<std::string, Traced>;

  std::string name;
  std::vector<std::pair<std::string, Parameter>> parameters;  ///< in the model's order
  std::function<Traced(const Named& parameters, const Traced& inputs, const Noise* noise)> forward;
  std::function<Traced(const Traced& answers, const Traced& targets)> loss;  ///< a scalar
  std::function<Traced(const Traced& step_n, std::int64_t steps)> rate;      ///< of the step, counted from 0
  Optimizer optimizer;
};

/// Fills in a task's parameters and forward pass from a model struct and its forward function.
template <template <class> class Model, class Forward>
void use_model(Task& task, const Model<Parameter>& model, Forward forward) {
  for_each_parameter<Parameter>(model, [&](const std::string& name, const Parameter& parameter) {
    task.parameters.emplace_back(name, parameter);
  });
  task.forward = [forward](const Task::Named& values, const Traced& inputs, const Noise* noise) {
    Model<Traced> traced;
    for_each_parameter<Traced>(traced, [&](const std::string& name, Traced& value) { value = values.at(name); });
    return forward(traced, inputs, noise);
  };
}

}  // namespace etalon::training
