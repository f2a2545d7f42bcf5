/// \file
/// What the tasks that answer classes have in common. It knows no model.
#pragma once

#include <string>

#include "training/task.hpp"

namespace etalon::training {

/// A task without a model yet: cross-entropy, and AdamW whose rate falls linearly from `peak` to 0.
[[nodiscard]] Task classifier(std::string name, double peak, double weight_decay);

}  // namespace etalon::training
