#include "training/epoch_rows.hpp"

#include <fmt/format.h>

#include <numeric>
#include <vector>

#include "spec/error.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

BatchShape shape_of(const Dataset& rows, const Batches& b) {
  if (b.batch < 1 || b.epochs < 1 || rows.rows() < b.batch) {
    throw SpecViolation(fmt::format("training: {} rows in batches of {} for {} epochs, expected at least one batch and epoch", rows.rows(),
                                    b.batch, b.epochs));
  }
  const std::int64_t grain = b.grain == 0 ? b.batch : b.grain;
  if (grain < 1 || b.batch % grain != 0) {
    throw SpecViolation(fmt::format("training: a batch of {} rows in leaves of {}, expected a grain that divides it", b.batch, grain));
  }
  return {rows.rows() / b.batch, b.batch, rows.features, b.batch / grain, rows.per_row};
}

DType target_dtype(const Dataset& rows) { return rows.labels.empty() ? DType::f32 : DType::i64; }

Named epoch_rows(const Dataset& rows, const Batches& batches, std::int64_t epoch) {
  const BatchShape shape = shape_of(rows, batches);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.rows()));
  std::iota(order.begin(), order.end(), 0);
  if (batches.shuffle) order = permutation(rows.rows(), batches.seed, static_cast<std::uint32_t>(epoch), Stream::shuffle);
  order.resize(static_cast<std::size_t>(shape.batches * shape.batch));
  const Dataset taken = select_rows(rows, order);
  const Dims targets = target_dims(shape, target_dtype(rows));
  Named data;
  data.emplace(names::inputs, HostTensor::of(Dims{shape.slices(), shape.grain(), shape.features}, taken.inputs));
  data.emplace(names::targets, rows.labels.empty() ? HostTensor::of(targets, taken.numbers) : HostTensor::of(targets, taken.labels));
  return data;
}

}  // namespace etalon::training
