/// \file
/// What the compiler is told for programs on a device.
#pragma once

#include <memory>
#include <utility>

#include "compiled/options.hpp"
#include "compiled/runtime/device.hpp"

namespace etalon::test {

/// \param device null: the processor
[[nodiscard]] inline compiled::CompileOptions on(std::shared_ptr<compiled::Device> device) {
  compiled::CompileOptions options;
  options.device = std::move(device);
  return options;
}

}  // namespace etalon::test
