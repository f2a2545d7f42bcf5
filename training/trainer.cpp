#include "training/trainer.hpp"

#include <fmt/format.h>

#include <numeric>

#include "spec/error.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

BatchShape shape_of(const Examples& examples, const TrainerOptions& options) {
  if (options.batch < 1 || options.epochs < 1 || examples.rows() < options.batch) {
    throw SpecViolation(fmt::format("training: {} rows in batches of {} for {} epochs, expected at least one batch and epoch",
                                    examples.rows(), options.batch, options.epochs));
  }
  return {examples.rows() / options.batch, options.batch, examples.features};
}

DType target_dtype(const Examples& examples) { return examples.classes.empty() ? DType::f32 : DType::i64; }

Target target_of(const TrainerOptions& options) {
  compiled::CompileOptions compile_options;
  compile_options.threads = options.threads;
  compile_options.cache = options.cache;
  return Target::cpu(compile_options);
}

}  // namespace

Trainer::Trainer(const Task& task, Examples examples, const TrainerOptions& options)
    : task_(task),
      examples_(std::move(examples)),
      options_(options),
      shape_(shape_of(examples_, options_)),
      target_(target_of(options)),
      state_(task_.parameters, Optimization(task_.parameters, task_.groups, task_.before), options_.seed),
      step_(step_program(task_, shape_, target_dtype(examples_), options_.epochs), target_, state_.store()),
      evaluations_(
          [this](const RoutineCache::Types& types) {
            return evaluation_program(task_, types.at(names::points).dims[0], examples_.features);
          },
          target_, state_.store()) {
  step_.watch(names::loss).guard(options_.guard);
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
  state_.store().put(names::inputs, HostTensor::of(Dims{shape_.batches, shape_.batch, shape_.features}, inputs));
  state_.store().put(names::targets, examples_.classes.empty()
                                   ? HostTensor::of(Dims{shape_.batches, shape_.batch, 1}, numbers)
                                   : HostTensor::of(Dims{shape_.batches, shape_.batch}, classes));
}

void Trainer::run(const std::function<void(const StepRecord&)>& after_step) {
  load_epoch(1);
  double sum = 0;
  (void)step_.iterate([&](const auto& indices, const Outcome& outcome) {
    const std::int64_t epoch = indices.at(names::epoch), batch = indices.at(names::batch);
    const std::int64_t n = epoch * shape_.batches + batch;
    if (!outcome.completed()) {
      throw SpecViolation(fmt::format("training: step {} did not complete: {}", n, outcome.why));
    }
    if (batch == 0) sum = 0;
    sum += outcome.number(names::loss);
    after_step({epoch + 1, n, batch, outcome.number(names::rate), outcome.number(names::loss), sum});
    if (options_.shuffle && batch + 1 == shape_.batches && epoch + 1 < options_.epochs) load_epoch(epoch + 2);
    return true;
  });
}

std::vector<float> Trainer::answers(const std::vector<float>& points) {
  const std::int64_t rows = static_cast<std::int64_t>(points.size()) / examples_.features;
  const Outcome outcome = evaluations_.run({{names::points, HostTensor::of(Dims{rows, examples_.features}, points)}});
  if (!outcome.completed()) throw SpecViolation("training: the evaluation did not complete: " + outcome.why);
  const std::span<const float> values = outcome.output(names::answers).view<float>();
  return {values.begin(), values.end()};
}

}  // namespace etalon::training
