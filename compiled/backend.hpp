/// \file
/// The compiled CPU backend behind the interface that every backend has.
#pragma once

#include <memory>

#include "compiled/executable.hpp"
#include "spec/backend.hpp"

namespace etalon::compiled {

/// A backend named `cpu`: f32 and f64, every mode. What it cannot do it refuses; it never hands work to another.
[[nodiscard]] std::unique_ptr<spec::Backend> make_cpu_backend(const CompileOptions& options = {});

}  // namespace etalon::compiled
