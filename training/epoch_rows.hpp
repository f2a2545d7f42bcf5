/// \file
/// Rows as the steps of an epoch read them: how many batches there are, which rows are in which, and how they lie in tensors. It
/// trains nothing.
#pragma once

#include <cstdint>

#include "spec/dtype.hpp"
#include "training/data/dataset.hpp"
#include "training/model/parameters.hpp"
#include "training/step.hpp"

namespace etalon::training {

/// How steps are cut out of rows.
struct Batches {
  std::uint64_t seed = 1;
  std::int64_t epochs = 1;
  std::int64_t batch = 1;
  std::int64_t grain = 0;  ///< rows of a leaf, 0: the batch
  bool shuffle = true;     ///< a new order of the rows in each epoch
};

/// \throws SpecViolation for fewer rows than one batch, no epoch, or a grain that does not divide the batch
[[nodiscard]] BatchShape shape_of(const Dataset& rows, const Batches& batches);
/// i64 of labels, f32 of numbers.
[[nodiscard]] DType target_dtype(const Dataset& rows);
/// The data that a step reads, `names::inputs` and `names::targets`. \param epoch from 1
[[nodiscard]] Named epoch_rows(const Dataset& rows, const Batches& batches, std::int64_t epoch);

}  // namespace etalon::training
