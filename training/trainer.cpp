#include "training/trainer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "spec/error.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

HostTensor scalar(std::int64_t value) { return HostTensor::of(Dims{}, std::vector<std::int64_t>{value}); }

double number(const HostTensor& t) { return static_cast<double>(t.view<float>()[0]); }

BatchShape shape_of(const Examples& examples, const TrainerOptions& options) {
  if (options.batch < 1 || options.epochs < 1 || examples.rows() < options.batch) {
    throw SpecViolation(fmt::format("training: {} rows in batches of {} for {} epochs, expected at least one batch and epoch",
                                    examples.rows(), options.batch, options.epochs));
  }
  return {examples.rows() / options.batch, options.batch, examples.features};
}

DType target_dtype(const Examples& examples) { return examples.classes.empty() ? DType::f32 : DType::i64; }

compiled::Executable compile_step(const Task& task, const Examples& examples, const BatchShape& shape,
                                  const TrainerOptions& options) {
  compiled::CompileOptions compile_options;
  compile_options.threads = options.threads;
  compile_options.cache = options.cache;
  return compiled::compile(step_program(task, shape, target_dtype(examples), shape.batches * options.epochs),
                           compile_options);
}

}  // namespace

Trainer::Trainer(const Task& task, Examples examples, const TrainerOptions& options)
    : task_(task),
      examples_(std::move(examples)),
      options_(options),
      shape_(shape_of(examples_, options_)),
      step_(compile_step(task_, examples_, shape_, options_)) {
  step_.declare(store_);
  initialise();
}

void Trainer::initialise() {
  const std::vector<HostTensor> first = initial_values(task_.parameters, options_.seed);
  std::size_t position = 0;
  for (const auto& [name, parameter] : task_.parameters) {
    store_.write(name, first[position++]);
    for (const std::string& part : task_.optimizer.state) {
      store_.write(state_name(name, part), HostTensor(DType::f32, parameter.dims));
    }
  }
  store_.write(names::count, scalar(0));
  store_.write(names::seed, scalar(static_cast<std::int64_t>(options_.seed)));
}

void Trainer::load_epoch(std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(examples_.rows()));
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) {
    order = permutation(examples_.rows(), options_.seed, static_cast<std::uint32_t>(epoch), Stream::shuffle);
  }
  const std::size_t rows = static_cast<std::size_t>(shape_.batches * shape_.batch);
  const std::size_t features = static_cast<std::size_t>(examples_.features);
  std::vector<float> inputs;
  std::vector<std::int64_t> classes;
  std::vector<float> numbers;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(order[i]);
    const float* first = examples_.inputs.data() + row * features;
    inputs.insert(inputs.end(), first, first + features);
    if (!examples_.classes.empty()) classes.push_back(examples_.classes[row]);
    else numbers.push_back(examples_.numbers[row]);
  }
  store_.write(names::inputs, HostTensor::of(Dims{shape_.batches, shape_.batch, shape_.features}, inputs));
  store_.write(names::targets, examples_.classes.empty()
                                   ? HostTensor::of(Dims{shape_.batches, shape_.batch, 1}, numbers)
                                   : HostTensor::of(Dims{shape_.batches, shape_.batch}, classes));
}

StepRecord Trainer::step(std::int64_t epoch, std::int64_t batch) {
  const std::int64_t n = (epoch - 1) * shape_.batches + batch;
  const std::vector<HostTensor> out =
      step_.run(store_, {{names::batch, scalar(batch)}, {names::step, scalar(n)}});
  StepRecord record{epoch, n, batch, number(out[1]), number(out[0]), 0};
  if (!std::isfinite(record.loss)) {
    throw SpecViolation(fmt::format("training: the loss of step {} is {}, expected a finite number", n, record.loss));
  }
  return record;
}

void Trainer::run(const std::function<void(const StepRecord&)>& after_step) {
  for (std::int64_t epoch = 1; epoch <= options_.epochs; ++epoch) {
    if (epoch == 1 || options_.shuffle) load_epoch(epoch);
    double sum = 0;
    for (std::int64_t batch = 0; batch < shape_.batches; ++batch) {
      StepRecord record = step(epoch, batch);
      sum += record.loss;
      record.epoch_loss = sum;
      after_step(record);
    }
  }
}

std::vector<float> Trainer::answers(const std::vector<float>& points) {
  const std::int64_t rows = static_cast<std::int64_t>(points.size()) / examples_.features;
  compiled::CompileOptions compile_options;
  compile_options.cache = options_.cache;
  const compiled::Executable evaluation = compiled::compile(evaluation_program(task_, rows, examples_.features), compile_options);
  const HostTensor input = HostTensor::of(Dims{rows, examples_.features}, points);
  const std::vector<HostTensor> out = evaluation.run(store_, {{names::points, input}});
  const std::span<const float> values = out[0].view<float>();
  return {values.begin(), values.end()};
}

}  // namespace etalon::training
