/// \file
/// The devices that commands know by name.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>

#include "compiled/runtime/device.hpp"
#include "spec/backend.hpp"

namespace etalon::command {

/// The device that a command's option names; null for `cpu`, which is the processor of the compiler's own choice.
/// \param cache a folder that keeps code between processes, where the device has a compiler of its own; nothing is kept where it is empty
/// \throws Unsupported where there is no such device, with the reason; SpecViolation for an unknown name
[[nodiscard]] std::shared_ptr<compiled::Device> device_named(const std::string& name, const std::filesystem::path& cache = {});

/// The backend that runs on such a device, under the contract of the functions that it calls. \throws as device_named
[[nodiscard]] std::unique_ptr<spec::Backend> make_device_backend(const std::string& name);

/// One line per device: its name, and what it is; of CUDA's the reason why there is none.
void print_devices(std::ostream& out);

}  // namespace etalon::command
