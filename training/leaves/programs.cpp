#include "training/leaves/programs.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "training/leaves/tree_sum.hpp"

namespace etalon::training {

namespace {

/// A random operation's step has 32 bits.
void require_countable(const BatchShape& shape, std::int64_t epochs) {
  std::int64_t leaves = 0;
  const bool fits =
      !__builtin_mul_overflow(shape.slices(), epochs, &leaves) && leaves <= std::numeric_limits<std::uint32_t>::max();
  if (fits) return;
  throw SpecViolation(
      fmt::format("leaves: {} epochs of {} leaves, expected fewer than 2^32 together", epochs, shape.slices()));
}

void require_no_updates(const spec::Program& program, const BatchShape& shape) {
  const std::vector<spec::Update> updates = spec::all_updates(program);
  if (updates.empty() || shape.leaves == 1) return;
  throw SpecViolation(
      fmt::format("leaves: the forward pass updates `{}`, which {} leaves of a step would each do, expected a grain of "
                  "the batch, {} rows",
                  updates[0].parameter, shape.leaves, shape.batch));
}

}  // namespace

std::string gradient_sum_name(const std::string& parameter) { return parameter + ".gradient_sum"; }

spec::Program leaf_program(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs) {
  require_countable(shape, epochs);
  spec::Tracer tracer;
  const auto [inputs, targets] = declare_data(tracer, shape, target_dtype);
  const Traced epoch_n = tracer.index(names::epoch, 0, epochs - 1);
  const Traced batch_n = tracer.index(names::batch, 0, shape.batches - 1);
  const Traced leaf_n = tracer.index(names::leaf, 0, shape.leaves - 1);
  const Traced slice_n = batch_n * shape.leaves + leaf_n;
  const Noise<Untyped> noise{tracer.parameter(names::seed, DType::i64, {}), epoch_n * shape.slices() + slice_n};
  const Task::Values values = declare_parameters(tracer, task.parameters);
  const Traced loss = task.loss(task.forward(values, inputs[slice_n], &noise), targets[slice_n]);
  require_summable(loss.dtype(), "the loss");
  const Optimization optimization = task.optimization();
  std::vector<Traced> wrt;
  for (const auto& entry : optimization.entries()) {
    require_summable(entry.parameter.dtype, "the gradient of `" + entry.name + "`");
    wrt.push_back(values.at(entry.name));
  }
  const std::optional<LossScale> scale = declare_loss_scale(tracer, optimization);
  tracer.output(names::loss, loss);
  for (const Traced& gradient : spec::gradients(scale ? scale->scaled(loss) : loss, wrt)) tracer.output(gradient);
  spec::Program program = tracer.finish();
  require_no_updates(program, shape);
  return program;
}

spec::Program update_program(const Task& task, const BatchShape& shape, DType loss_dtype, std::int64_t epochs) {
  spec::Tracer tracer;
  const Traced epoch_n = tracer.index(names::epoch, 0, epochs - 1);
  const Traced batch_n = tracer.index(names::batch, 0, shape.batches - 1);
  const Traced step_n = epoch_n * shape.batches + batch_n;
  const Optimization optimization = task.optimization();
  LeafSums sums{tracer.input(names::loss_sum, loss_dtype, {}), {}, {}, shape.leaves};
  for (const auto& entry : optimization.entries()) {
    sums.gradients.push_back(tracer.input(gradient_sum_name(entry.name), entry.parameter.dtype, entry.parameter.dims));
  }
  sums.scale = declare_loss_scale(tracer, optimization);
  Task::Values values;
  for (const auto& entry : optimization.entries()) {
    values.emplace(entry.name, tracer.parameter(entry.name, entry.parameter.dtype, entry.parameter.dims));
  }
  write_joined(tracer, optimization, values, sums, tracer.parameter(names::count, DType::i64, {}),
               [&](const Traced&) { return task.rate(step_n, shape.batches * epochs); });
  return tracer.finish();
}

std::vector<spec::Program> step_programs(const Task& task, const BatchShape& shape, DType target_dtype, std::int64_t epochs) {
  if (shape.leaves == 1) return {step_program(task, shape, target_dtype, epochs)};
  spec::Program leaf = leaf_program(task, shape, target_dtype, epochs);
  spec::Program update = update_program(task, shape, spec::types_of(leaf).at(names::loss).dtype, epochs);
  return {std::move(leaf), std::move(update)};
}

std::string step_text(const std::vector<spec::Program>& programs) {
  std::string text;
  for (const spec::Program& program : programs) text += (text.empty() ? "" : "\n") + to_text(program);
  return text;
}

std::vector<spec::Program> parse_step(const std::string& text, std::size_t count) {
  std::vector<spec::Program> programs;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = count == 1 ? std::string::npos : text.find("\n\n", from);
    programs.push_back(spec::parse_program(text.substr(from, end == std::string::npos ? end : end + 1 - from)));
    from = end == std::string::npos ? text.size() : end + 2;
  }
  if (programs.size() == count) return programs;
  throw SpecViolation(fmt::format("step: {} programs with an empty line between, expected {}", programs.size(), count));
}

}  // namespace etalon::training
