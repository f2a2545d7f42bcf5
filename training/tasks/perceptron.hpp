/// \file
/// The default model for rows of one's own: layers one after the other, over numbers that are scaled first or over the
/// positions of bytes in a vocabulary. It knows no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/data/examples.hpp"
#include "training/task.hpp"

namespace etalon::training {

struct Perceptron {
  std::int64_t features = 1;
  std::int64_t classes = 0;                     ///< 0: one number is answered
  std::int64_t vocabulary = 0;                  ///< of features that are positions; 0: they are numbers
  std::vector<std::int64_t> hidden = {64, 32};  ///< sizes; none: the model is linear
  double rate = 0.005;                          ///< of the first step, from which it falls linearly to 0

  friend bool operator==(const Perceptron&, const Perceptron&) = default;
};

/// What the examples ask of a model; hidden sizes and rate are those of `sizes`.
[[nodiscard]] Perceptron perceptron_for(const Examples& examples, const Perceptron& sizes);

/// Cross-entropy where there are classes, else the mean squared error; AdamW with weight decay 0.01; ReLU between layers.
/// Parameters: `input.mean` and `input.scale`, which scale numbers and are not trained, or `embedding.weight`, 16 numbers for
/// each position; `layers.N.weight` and `layers.N.bias` from 0 on; for numbers `output.mean` and `output.scale`, not trained.
/// \throws SpecViolation for sizes below 1 or above 65536, more than 64 of them, or a rate that is not above 0
[[nodiscard]] Task perceptron(const Perceptron& model);

/// The values of those parameters that are not trained, from these rows alone: means and one over standard deviations, of
/// each feature or, where all have one unit, of all together; 1 where nothing varies.
[[nodiscard]] Named scaling_of(const Examples& examples, const std::vector<std::int64_t>& rows);

}  // namespace etalon::training
