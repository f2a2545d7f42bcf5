#ifdef ETALON_HAS_COMPILED

#include "tools/command/devices.hpp"

#include <vector>

#include "compiled/runtime/backend.hpp"
#include "cuda/emulator/emulator.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::command {

std::shared_ptr<compiled::Device> device_named(const std::string& name) {
  if (name == "cpu") return nullptr;
  if (name == "cuda-emulated") return std::make_shared<cuda::emulator::Emulator>();
  if (name == "cuda") throw Unsupported("cuda: not in this build");
  const std::vector<std::string> names{"cpu", "cuda-emulated", "cuda"};
  throw SpecViolation(unknown_name("device", name, names));
}

std::unique_ptr<spec::Backend> make_device_backend(const std::string& name) {
  compiled::CompileOptions options;
  options.device = device_named(name);
  // Emulated kernels call the functions of the host's C library, as emitted C does.
  return compiled::make_device_backend(options, "cpu-c");
}

}  // namespace etalon::command

#endif
