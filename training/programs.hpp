/// \file
/// Programs from generic lambdas over a model and a batch: the compiled way of what a session runs eagerly.
#pragma once

#include <functional>
#include <string>

#include "spec/program/trace.hpp"
#include "training/state.hpp"
#include "training/step.hpp"

namespace etalon::training {

/// The inputs of a program by the paths of a struct, with the types that it declares.
template <template <template <class> class> class Batch>
[[nodiscard]] Batch<Untyped> declare_inputs(spec::Tracer& tracer) {
  std::map<std::string, Traced> made;
  const Batch<Declared> types;
  for_each_leaf(types, [&](const std::string& path, const Parameter& type) {
    made.emplace(path, tracer.input(path, type.dtype, type.dims));
  });
  Batch<Untyped> inputs;
  for_each_leaf(inputs, [&](const std::string& path, Traced& leaf) { leaf = made.at(path); });
  return inputs;
}

/// A training step of `loss(model, batch, noise)`, a scalar: outputs `loss` and `rate`; it updates parameters, optimizer
/// state and step count. The inputs are the paths of the batch.
/// \param rate the learning rate, given the number of the step from 1
template <template <template <class> class> class Model, template <template <class> class> class Batch, class Loss>
[[nodiscard]] spec::Program training_program(const State& state, const Loss& loss,
                                             const std::function<Traced(const Traced& count)>& rate) {
  spec::Tracer tracer;
  const Batch<Untyped> batch = declare_inputs<Batch>(tracer);
  const Traced before = tracer.parameter(names::count, DType::i64, {});
  const Noise<Untyped> noise{tracer.parameter(names::seed, DType::i64, {}), before};
  const Task::Values values = declare_parameters(tracer, state.parameters());
  write_step(tracer, state.optimization(), values, loss(model_of<Model>(state.parameters(), values), batch, noise), before, rate);
  return tracer.finish();
}

}  // namespace etalon::training
