#include "training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "spec/error.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

BatchShape shape_of(const Dataset& rows, const TrainerOptions& options) {
  if (options.batch < 1 || options.epochs < 1 || rows.rows() < options.batch) {
    throw SpecViolation(fmt::format("training: {} rows in batches of {} for {} epochs, expected at least one batch and epoch",
                                    rows.rows(), options.batch, options.epochs));
  }
  return {rows.rows() / options.batch, options.batch, rows.features};
}

/// Rows that the model can be trained or judged with.
void require_fitting(const Dataset& data, const Task& task, std::string_view name) {
  require_sound(data, name);
  const std::int64_t answers = answers_per_row(task, data.features);
  if (data.labels.empty() || data.classes <= answers) return;
  throw SpecViolation(fmt::format("{}: {} classes, expected at most {}, for which the model has answers", name,
                                  data.classes, answers));
}

void require_labelled(const Dataset& data, const Task& task, std::string_view name) {
  if (data.labels.empty()) throw SpecViolation(fmt::format("{}: no labels, expected one per row", name));
  require_fitting(data, task, name);
}

Dataset fitting(Dataset data, const Task& task) {
  require_fitting(data, task, "training data");
  return data;
}

Dataset labelled_or_none(Dataset data, const Task& task) {
  if (!data.inputs.empty() || data.rows() > 0) require_labelled(data, task, "validation data");
  return data;
}

DType target_dtype(const Dataset& rows) { return rows.labels.empty() ? DType::f32 : DType::i64; }

Target target_of(const TrainerOptions& options) {
  compiled::CompileOptions compile_options;
  compile_options.threads = options.threads;
  compile_options.cache = options.cache;
  return options.device == nullptr ? Target::cpu(compile_options) : Target::on(options.device, compile_options);
}

}  // namespace

Trainer::Trainer(const Task& task, Dataset rows, const TrainerOptions& options, Dataset validation)
    : task_(task),
      rows_(fitting(std::move(rows), task_)),
      validation_(labelled_or_none(std::move(validation), task_)),
      options_(options),
      shape_(shape_of(rows_, options_)),
      target_(target_of(options)),
      state_(task_.parameters, Optimization(task_.parameters, task_.groups, task_.before), options_.seed),
      step_(step_program(task_, shape_, target_dtype(rows_), options_.epochs), target_, state_.store()),
      evaluations_(
          [this](const RoutineCache::Types& types) {
            return evaluation_program(task_, types.at(names::points).dims[0], rows_.features);
          },
          target_, state_.store()) {
  step_.watch(names::loss).guard(options_.guard);
}

void Trainer::load_epoch(std::int64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows_.rows()));
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) {
    order = permutation(rows_.rows(), options_.seed, static_cast<std::uint32_t>(epoch), Stream::shuffle);
  }
  order.resize(static_cast<std::size_t>(shape_.batches * shape_.batch));
  const Dataset epoch_rows = select_rows(rows_, order);
  state_.store().put(names::inputs, HostTensor::of(Dims{shape_.batches, shape_.batch, shape_.features}, epoch_rows.inputs));
  state_.store().put(names::targets, rows_.labels.empty()
                                   ? HostTensor::of(Dims{shape_.batches, shape_.batch, 1}, epoch_rows.numbers)
                                   : HostTensor::of(Dims{shape_.batches, shape_.batch}, epoch_rows.labels));
}

void Trainer::run(const std::function<void(const StepRecord&)>& after_step) {
  run_from(0, 0, [&](const StepRecord& record) {
    after_step(record);
    return true;
  });
}

void Trainer::run_from(std::int64_t first, double epoch_loss, const std::function<bool(const StepRecord&)>& after_step) {
  double sum = epoch_loss;
  for (std::int64_t n = first; n < steps(); ++n) {
    const std::int64_t epoch = n / shape_.batches, batch = n % shape_.batches;
    if (n == first || (options_.shuffle && batch == 0)) load_epoch(epoch + 1);
    step_.bind(names::epoch, epoch);
    step_.bind(names::batch, batch);
    const Outcome outcome = step_.run();
    if (!outcome.completed()) throw SpecViolation(fmt::format("training: step {} did not complete: {}", n, outcome.why));
    if (batch == 0) sum = 0;
    sum += outcome.number(names::loss);
    StepRecord record{epoch + 1, n, batch, outcome.number(names::rate), outcome.number(names::loss), sum};
    if (batch + 1 == shape_.batches && validation_.rows() > 0) record.validation_accuracy = share_right(validation_);
    if (!after_step(record)) return;
  }
}

std::vector<float> Trainer::answers(const std::vector<float>& points) {
  const auto count = static_cast<std::int64_t>(points.size());
  if (count % rows_.features != 0) {
    throw SpecViolation(fmt::format("training: {} numbers are no rows, expected {} for each", count, rows_.features));
  }
  const Outcome outcome = evaluations_.run({{names::points, HostTensor::of(Dims{count / rows_.features, rows_.features}, points)}});
  if (!outcome.completed()) throw SpecViolation("training: the evaluation did not complete: " + outcome.why);
  const std::span<const float> values = outcome.output(names::answers).view<float>();
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> Trainer::classes(const std::vector<float>& points) {
  const std::vector<float> all = answers(points);
  const std::int64_t rows = static_cast<std::int64_t>(points.size()) / rows_.features;
  const std::int64_t count = rows == 0 ? 0 : static_cast<std::int64_t>(all.size()) / rows;
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = all.begin() + row * count;
    found.push_back(std::max_element(first, first + count) - first);
  }
  return found;
}

double Trainer::accuracy(const Dataset& rows) {
  require_labelled(rows, task_, "evaluation data");
  return share_right(rows);
}

double Trainer::share_right(const Dataset& rows) {
  const std::vector<std::int64_t> found = classes(rows.inputs);
  const auto right = std::inner_product(found.begin(), found.end(), rows.labels.begin(), std::int64_t{0}, std::plus<>(),
                                        std::equal_to<>());
  return static_cast<double>(right) / static_cast<double>(rows.rows());
}

}  // namespace etalon::training
