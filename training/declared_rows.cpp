#include "training/declared_rows.hpp"

#include <utility>

#include "training/leaves/programs.hpp"
#include "training/tasks/shipped.hpp"

namespace etalon::training {

DeclaredRows::DeclaredRows(const Declaration& d, const std::filesystem::path& file) {
  Shipped of = shipped(d.task, d.model, file, d.seed);
  batches_ = {d.seed, d.epochs, d.batch, d.grain, of.shuffles};
  const BatchShape shape = shape_of(of.train, batches_);
  steps_of_epoch_ = shape.batches;
  Declaration now = d;
  now.data = of.digest;
  now.rows = of.train.rows();
  now.dropped = now.rows - shape.batches * shape.batch;
  now.steps = shape.batches * d.epochs;
  now.program = step_text(step_programs(of.task, shape, target_dtype(of.train), d.epochs));
  require_same(d, now, "run.json");
  rows_ = std::move(of.train);
}

const Named& DeclaredRows::of_step(std::int64_t number) {
  const std::int64_t epoch = (number - 1) / steps_of_epoch_ + 1;
  if (epoch_ != epoch && (epoch_ == 0 || batches_.shuffle)) data_ = epoch_rows(rows_, batches_, epoch);
  epoch_ = epoch;
  return data_;
}

}  // namespace etalon::training
