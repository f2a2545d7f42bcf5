/// \file
/// The tasks that ship with Etalon: small, real, and trained to a known quality.
#pragma once

#include <string>
#include <vector>

#include "training/task.hpp"

namespace etalon::training {

/// 64 pixels → 64 → 32 → 10 classes, augmented images, dropout, AdamW with a rate that falls to 0.
[[nodiscard]] Task digits_mlp();
/// Two 3×3 convolutions with pooling and one dense layer, otherwise trained in the same way.
[[nodiscard]] Task digits_cnn();
/// The half-moons of OCANNL: 2 → 16 → 16 → 1 without output bias, hinge loss, SGD with weight decay 1e-4 on every
/// parameter and the rate 0.1·(2·steps - step_n)/steps.
[[nodiscard]] Task moons();

/// In the order of their names.
[[nodiscard]] std::vector<std::string> task_names();
/// The models of a task, its usual one first. \throws SpecViolation for another task, with the nearest name
[[nodiscard]] std::vector<std::string> models_of(const std::string& task);
/// \throws SpecViolation for another task or model, with the nearest name
[[nodiscard]] Task task_named(const std::string& task, const std::string& model);

}  // namespace etalon::training
