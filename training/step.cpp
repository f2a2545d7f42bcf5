#include "training/step.hpp"

#include "training/optimizer.hpp"

namespace etalon::training {

Task::Values declare_parameters(spec::Tracer& tracer, const Parameters& parameters) {
  Task::Values values;
  for (const auto& [name, parameter] : parameters.entries()) {
    values.emplace(name, tracer.parameter(name, parameter.dtype, parameter.dims));
  }
  return values;
}

Traced write_updates(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values,
                     std::vector<Traced> gradients, const Traced& before, const std::optional<Traced>& guard,
                     const std::function<Traced(const Traced& count)>& rate) {
  const Traced count = before + 1;
  const Optimization::Inputs inputs{values, std::move(gradients), count, rate(count), guard};
  optimization.write(tracer, inputs);
  tracer.assign(before, guard ? finite_or_kept(count, before, *guard) : count);
  return inputs.rate;
}

Dims target_dims(std::int64_t rows, std::int64_t labels, DType target_dtype) {
  return target_dtype == DType::i64 && labels == 1 ? Dims{rows} : Dims{rows, labels};
}

Dims target_dims(const BatchShape& shape, DType target_dtype) {
  const Dims slice = target_dims(shape.grain(), shape.labels, target_dtype);
  return slice.rank == 1 ? Dims{shape.slices(), slice[0]} : Dims{shape.slices(), slice[0], slice[1]};
}

TracedData declare_data(spec::Tracer& tracer, const BatchShape& shape, DType target_dtype) {
  const Traced inputs = tracer.input(names::inputs, DType::f32, {shape.slices(), shape.grain(), shape.features});
  return {inputs, tracer.input(names::targets, target_dtype, target_dims(shape, target_dtype))};
}

std::optional<LossScale> declare_loss_scale(spec::Tracer& tracer, const Optimization& optimization) {
  const std::optional<LossScaling>& scaling = optimization.loss_scaling();
  return scaling ? std::optional(LossScale(tracer, *scaling)) : std::nullopt;
}

void write_joined(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values, const LeafSums& sums,
                  const Traced& before, const std::function<Traced(const Traced& count)>& rate) {
  const double share = 1 / static_cast<double>(sums.leaves);
  const Traced loss = sums.leaves == 1 ? sums.loss : sums.loss * share;
  Traced guard = loss;
  std::vector<Traced> gradients = sums.gradients;
  if (sums.scale) {
    const LossScale::Decision decision = sums.scale->decide(tracer, gradients, share);
    gradients = decision.gradients;
    guard = loss + decision.verdict;
    tracer.output(names::verdict, decision.verdict);
  } else if (sums.leaves > 1) {
    for (Traced& gradient : gradients) gradient = gradient * share;
  }
  const Traced used = write_updates(tracer, optimization, values, std::move(gradients), before, guard, rate);
  tracer.output(names::loss, loss);
  tracer.output(names::rate, used);
}

void write_step(spec::Tracer& tracer, const Optimization& optimization, const Task::Values& values, const Traced& loss,
                const Traced& before, const std::function<Traced(const Traced& count)>& rate) {
  std::vector<Traced> wrt;
  for (const auto& entry : optimization.entries()) wrt.push_back(values.at(entry.name));
  const std::optional<LossScale> scale = declare_loss_scale(tracer, optimization);
  write_joined(tracer, optimization, values, {loss, spec::gradients(scale ? scale->scaled(loss) : loss, wrt), scale}, before, rate);
}

spec::Program step_program(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs) {
  spec::Tracer tracer;
  const auto [inputs, targets] = declare_data(tracer, shape, target_dtype);
  const Traced epoch_n = tracer.index(names::epoch, 0, epochs - 1);
  const Traced batch_n = tracer.index(names::batch, 0, shape.batches - 1);
  const Traced step_n = epoch_n * shape.batches + batch_n;
  const Noise<Untyped> noise{tracer.parameter(names::seed, DType::i64, {}), step_n};
  const Task::Values values = declare_parameters(tracer, task.parameters);
  const Traced loss = task.loss(task.forward(values, inputs[batch_n], &noise), targets[batch_n]);
  write_step(tracer, task.optimization(), values, loss, tracer.parameter(names::count, DType::i64, {}),
             [&](const Traced&) { return task.rate(step_n, shape.batches * epochs); });
  return tracer.finish();
}

std::int64_t answers_per_row(const Task& task, std::int64_t features) {
  spec::Tracer tracer;
  const Traced points = tracer.input(names::points, DType::f32, {1, features});
  return task.forward(declare_parameters(tracer, task.parameters), points, nullptr).dims().count();
}

spec::Program evaluation_program(const Task& task, std::int64_t rows, std::int64_t features, const std::optional<spec::ValueType>& wanted) {
  spec::Tracer tracer;
  const Traced points = tracer.input(names::points, DType::f32, {rows, features});
  std::optional<Traced> targets;
  if (wanted) targets = tracer.input(names::wanted, wanted->dtype, wanted->dims);
  const Task::Values values = declare_parameters(tracer, task.parameters);
  const Traced answers = task.forward(values, points, nullptr);
  tracer.output(names::answers, answers);
  if (targets) tracer.output(names::loss, task.loss(answers, *targets));
  return tracer.finish();
}

}  // namespace etalon::training
