#include "training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "compiled/runtime/device.hpp"
#include "spec/error.hpp"
#include "training/epoch_rows.hpp"
#include "training/leaves/programs.hpp"

namespace etalon::training {

namespace {

Batches batches_of(const TrainerOptions& o) { return {o.seed, o.epochs, o.batch, o.grain, o.shuffle}; }

/// Rows that the model can be trained or judged with.
void require_fitting(const Dataset& data, const Task& task, std::string_view name) {
  require_sound(data, name);
  const std::int64_t answers = answers_per_row(task, data.features) / data.per_row;
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

/// To validate with: none, or answered as those that are trained on.
Dataset alike_or_none(Dataset data, const Dataset& trained, const Task& task) {
  if (data.inputs.empty() && data.rows() == 0) return data;
  if (!trained.labels.empty()) require_labelled(data, task, "validation data");
  else if (!data.labels.empty()) throw SpecViolation("validation data: labels, expected a number per row");
  require_fitting(data, task, "validation data");
  return data;
}

HostTensor wanted_of(const Dataset& rows) {
  const Dims dims = target_dims(rows.rows(), rows.per_row, target_dtype(rows));
  return rows.labels.empty() ? HostTensor::of(dims, rows.numbers) : HostTensor::of(dims, rows.labels);
}

/// The class with the largest answer for each of the rows.
std::vector<std::int64_t> largest_of(std::span<const float> answers, std::int64_t rows) {
  const std::int64_t count = rows == 0 ? 0 : static_cast<std::int64_t>(answers.size()) / rows;
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto first = answers.begin() + row * count;
    found.push_back(std::max_element(first, first + count) - first);
  }
  return found;
}

double share_right(const std::vector<std::int64_t>& found, const std::vector<std::int64_t>& labels) {
  const auto right = std::inner_product(found.begin(), found.end(), labels.begin(), std::int64_t{0}, std::plus<>(), std::equal_to<>());
  return static_cast<double>(right) / static_cast<double>(labels.size());
}

void require_devices(const TrainerOptions& options) {
  if (options.devices < 1) throw SpecViolation("training: 0 devices, expected at least 1");
  if (options.devices == 1 || options.device == nullptr || options.device->is_host()) return;
  throw SpecViolation(fmt::format("training: {} devices on {}, expected 1, or the processor", options.devices, options.device->name()));
}

Target target_of(const TrainerOptions& options) {
  require_devices(options);
  compiled::CompileOptions compile_options;
  compile_options.threads = options.threads;
  compile_options.cache = options.cache;
  return options.device == nullptr ? Target::cpu(compile_options) : Target::on(options.device, compile_options);
}

}  // namespace

LeafPlan plan_of(const Task& task, const Dataset& rows, const TrainerOptions& options, int ranks) {
  require_fitting(rows, task, "training data");
  require_devices(options);
  const BatchShape shape = shape_of(rows, batches_of(options));
  const spec::Program leaf = leaf_program(task, shape, target_dtype(rows), options.epochs);
  LeafPlan plan = plan_of(leaf, shape, options.epochs, options.devices, ranks);
  const DType loss = spec::types_of(leaf).at(names::loss).dtype;
  plan.is_update_cut = ranks > 1 && elementwise_groups(update_program(task, shape, loss, options.epochs)).has_value();
  return plan;
}

Trainer::Trainer(const Task& task, Dataset rows, const TrainerOptions& options, Dataset validation)
    : task_(task),
      rows_(fitting(std::move(rows), task_)),
      validation_(alike_or_none(std::move(validation), rows_, task_)),
      options_(options),
      shape_(shape_of(rows_, batches_of(options_))),
      target_(target_of(options)),
      state_(task_.parameters, task_.optimization(), options_.seed),
      steps_(task_, {shape_, target_dtype(rows_), options_.epochs, options_.devices, options_.guard, options_.ranks}, target_, state_),
      evaluations_(
          [this](const RoutineCache::Types& types) {
            const auto wanted = types.find(names::wanted);
            return evaluation_program(task_, types.at(names::points).dims[0], rows_.features,
                                      wanted == types.end() ? std::nullopt : std::optional(wanted->second));
          },
          target_, state_.store()) {}

void Trainer::load_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  for (const auto& [name, data] : epoch_rows(rows_, batches_of(options_), epoch)) state_.store().put(name, data);
}

StepRecord Trainer::record_of(const StepPosition& at, const Outcome& outcome) const {
  const std::int64_t n = at.epoch * shape_.batches + at.batch;
  if (!outcome.completed()) throw SpecViolation(fmt::format("training: step {} did not complete: {}", n, outcome.why));
  StepRecord record{at.epoch + 1, n, at.batch, outcome.number(names::rate), outcome.number(names::loss)};
  if (task_.loss_scaling) record.kept = std::isnan(outcome.number(names::verdict));
  return record;
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
    const StepPosition at{n / shape_.batches, n % shape_.batches};
    if (n == first || (options_.shuffle && at.batch == 0)) load_epoch(at.epoch + 1);
    StepRecord record = record_of(at, around_ ? surrounded(at) : together(at));
    if (at.batch == 0) sum = 0;
    sum += record.loss;
    record.epoch_loss = sum;
    if (at.batch + 1 == shape_.batches && validation_.rows() > 0) validate(record);
    if (!after_step(record)) return;
  }
}

/// With the rows of its epoch in the store.
StepPosition Trainer::loaded(std::int64_t step) {
  const StepPosition at{step / shape_.batches, step % shape_.batches};
  if (epoch_ != at.epoch + 1) load_epoch(at.epoch + 1);
  return at;
}

Outcome Trainer::compute(std::int64_t step) { return steps_.run(loaded(step)); }

std::string Trainer::step_text() const { return training::step_text(programs()); }

std::vector<HostTensor> Trainer::inputs_of(const spec::Program& program, std::int64_t step, std::int64_t leaf, const Named& sums) {
  const StepPosition at = loaded(step);
  const std::map<std::string, std::int64_t> indices{{names::epoch, at.epoch}, {names::batch, at.batch}, {names::leaf, leaf}};
  std::vector<HostTensor> inputs;
  for (const spec::Input& input : program.inputs) {
    const auto sum = sums.find(input.name);
    if (input.role == spec::Role::index) inputs.push_back(HostTensor::of<std::int64_t>({}, {indices.at(input.name)}));
    else if (sum != sums.end()) inputs.push_back(sum->second);
    else inputs.push_back(input.value ? *input.value : state_.store().read(input.name));
  }
  return inputs;
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
  return largest_of(answers(points), static_cast<std::int64_t>(points.size()) / rows_.features * rows_.per_row);
}

double Trainer::accuracy(const Dataset& rows) {
  require_labelled(rows, task_, "evaluation data");
  return share_right(classes(rows.inputs), rows.labels);
}

Outcome Trainer::evaluate(const Dataset& rows) {
  const HostTensor points = HostTensor::of(Dims{rows.rows(), rows_.features}, rows.inputs);
  Outcome outcome = evaluations_.run({{names::points, points}, {names::wanted, wanted_of(rows)}});
  if (!outcome.completed()) throw SpecViolation("training: the evaluation did not complete: " + outcome.why);
  return outcome;
}

double Trainer::loss(const Dataset& rows) {
  require_labelled(rows, task_, "evaluation data");
  return evaluate(rows).number(names::loss);
}

void Trainer::validate(StepRecord& record) {
  const Outcome outcome = evaluate(validation_);
  record.validation_loss = outcome.number(names::loss);
  if (!std::isfinite(*record.validation_loss)) {
    throw SpecViolation(fmt::format("training: after step {} the validation loss is {}", record.step, *record.validation_loss));
  }
  if (validation_.labels.empty()) return;
  const std::span<const float> answers = outcome.output(names::answers).view<float>();
  record.validation_accuracy = share_right(largest_of(answers, static_cast<std::int64_t>(validation_.labels.size())), validation_.labels);
}

}  // namespace etalon::training
