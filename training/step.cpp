#include "training/step.hpp"

#include <optional>

namespace etalon::training {

namespace {

Task::Named declare_parameters(spec::Tracer& tracer, const Task& task) {
  Task::Named values;
  for (const auto& [name, parameter] : task.parameters) {
    values.emplace(name, tracer.parameter(name, DType::f32, parameter.dims));
  }
  return values;
}

/// One parameter's update; the results of an optimizer are the new parameter, then the new state in order.
void update(spec::Tracer& tracer, const Task& task, const std::string& name, const Parameter& parameter,
            const Traced& value, const Traced& gradient, const Traced& count, const Traced& rate) {
  const auto label = tracer.section(name + " " + task.optimizer.operation);
  std::vector<spec::TracedOperand> operands{value, gradient};
  std::vector<Traced> state;
  for (const std::string& part : task.optimizer.state) {
    state.push_back(tracer.parameter(state_name(name, part), DType::f32, parameter.dims));
    operands.emplace_back(state.back());
  }
  operands.emplace_back(count);
  spec::Attributes attributes = task.optimizer.attributes;
  attributes["lr"] = spec::ValueName{rate.name()};
  attributes["weight_decay"] = parameter.decays ? task.optimizer.weight_decay : 0.0;
  const std::vector<Traced> results = tracer.call(task.optimizer.operation, operands, attributes);
  tracer.assign(value, results[0]);
  for (std::size_t i = 0; i < state.size(); ++i) tracer.assign(state[i], results[i + 1]);
}

}  // namespace

std::string state_name(const std::string& parameter, const std::string& state) { return parameter + "." + state; }

spec::Program step_program(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t steps) {
  spec::Tracer tracer;
  const Traced inputs = tracer.input(names::inputs, DType::f32, {shape.batches, shape.batch, shape.features});
  const Dims target_dims = target_dtype == DType::f32 ? Dims{shape.batches, shape.batch, 1} : Dims{shape.batches, shape.batch};
  const Traced targets = tracer.input(names::targets, target_dtype, target_dims);
  const Traced batch_n = tracer.index(names::batch, 0, shape.batches - 1);
  const Traced step_n = tracer.index(names::step, 0, steps - 1);
  const Noise noise{tracer.index(names::seed), step_n};
  const Traced count_before = tracer.parameter(names::count, DType::i64, {});
  const Task::Named values = declare_parameters(tracer, task);

  const Traced loss = task.loss(task.forward(values, inputs[batch_n], &noise), targets[batch_n]);
  const Traced rate = task.rate(step_n, steps);
  std::vector<Traced> wrt;
  for (const auto& [name, parameter] : task.parameters) wrt.push_back(values.at(name));
  const std::vector<Traced> gradients = spec::gradients(loss, wrt);

  const Traced count = count_before + 1;
  for (std::size_t i = 0; i < wrt.size(); ++i) {
    const auto& [name, parameter] = task.parameters[i];
    update(tracer, task, name, parameter, wrt[i], gradients[i], count, rate);
  }
  tracer.assign(count_before, count);
  tracer.output(names::loss, loss);
  tracer.output(names::rate, rate);
  return tracer.finish();
}

spec::Program evaluation_program(const Task& task, std::int64_t rows, std::int64_t features) {
  spec::Tracer tracer;
  const Traced points = tracer.input(names::points, DType::f32, {rows, features});
  const Task::Named values = declare_parameters(tracer, task);
  tracer.output(names::answers, task.forward(values, points, nullptr));
  return tracer.finish();
}

}  // namespace etalon::training
