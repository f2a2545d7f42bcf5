#ifdef ETALON_HAS_COMPILED

#include "tools/command/devices.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <utility>
#include <vector>

#include "compiled/emit/kept_code.hpp"
#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/processor.hpp"
#include "cuda/contract.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/emulator/emulator.hpp"
#include "cuda/nvrtc.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::command {

namespace {

/// The shipped contract of the functions that kernels call: those of the host's C library where they are emulated, as in emitted C; of a
/// GPU NVIDIA's.
std::string_view library_of_device(std::string_view name) { return name == "cuda" ? "cuda" : "cpu-c"; }

constexpr std::string_view races = "cuda-emulated:races";

/// The host's compiler takes as long to start as it takes for some of their kernels.
constexpr std::size_t requests_at_once = 128;

std::string processor_line() {
  const compiled::Machine m = compiled::Processor().machine();
  return fmt::format("{}, {} f32 in a vector, caches of {} KiB, {} KiB and {} MiB", m.name, m.lanes_f32, m.near_bytes >> 10, m.middle_bytes >> 10, m.last_bytes >> 20);
}

/// What kernels are made as for a device of that compute capability.
std::string image_text(int capability) {
  const std::string architecture = cuda::image_architecture(capability);
  const bool is_own = architecture.starts_with("sm_");
  return is_own ? architecture : fmt::format("PTX of {}, the nearest that NVRTC knows", architecture);
}

std::vector<std::string> driver_lines() {
  std::vector<std::string> lines;
  try {
    for (const cuda::Described& d : cuda::described_devices()) {
      lines.push_back(fmt::format("{}, compute capability {}.{}, {:.1f} GiB, driver for CUDA {}.{}, kernels are {}", d.name, d.capability / 10, d.capability % 10,
                                  static_cast<double>(d.bytes) / (1 << 30), d.driver / 1000, d.driver % 1000 / 10, image_text(d.capability)));
    }
  } catch (const Unsupported& e) {
    const std::string why = e.what();
    lines.push_back("none: " + (why.starts_with("cuda: ") ? why.substr(6) : why));
  }
  return lines;
}

cuda::DriverOptions driver_options(const std::filesystem::path& cache) {
  cuda::DriverOptions options;
  if (cache.empty() || !cuda::has_nvrtc()) return options;
  options.image_of = [kept = compiled::KeptCode(cache)](const std::string& text, int capability) {
    const std::string architecture = cuda::image_architecture(capability);
    return cuda::Image{kept.of(cuda::key_of_image(text, architecture), [&] { return cuda::compile_for(text, capability).bytes; }), architecture};
  };
  return options;
}

}  // namespace

std::shared_ptr<compiled::Device> device_named(const std::string& name, const std::filesystem::path& cache) {
  if (name == "cpu") return nullptr;
  if (name == "cuda-emulated") return std::make_shared<cuda::emulator::Emulator>();
  if (name == "cuda") return std::make_shared<cuda::Driver>(driver_options(cache));
  if (name == races) return std::make_shared<cuda::emulator::Emulator>(cuda::emulator::Emulator::LookingForRaces{});
  const std::vector<std::string> names{"cpu", "cuda-emulated", std::string(races), "cuda"};
  throw SpecViolation(unknown_name("backend", name, names));
}

std::unique_ptr<spec::Backend> make_device_backend(const std::string& name) {
  constexpr std::string_view cores = "-bf16";
  const std::string device = name.ends_with(cores) ? name.substr(0, name.size() - cores.size()) : name;
  // Requests are small: their kernels take longer to compile than to run.
  const bool is_emulated = device == "cuda-emulated";
  compiled::CompileOptions options;
  options.device = is_emulated ? std::make_shared<cuda::emulator::Emulator>(1, cuda::emulator::host_compiler(0)) : device_named(device);
  spec::Contract promised = cuda::contract_of_device(device, library_of_device(device));
  if (device != name) {
    promised = cuda::with_tensor_cores(std::move(promised));
    options.schedule.promises = promised;
    options.schedule.always = true;  // cases are small
  }
  return compiled::make_device_backend(options, std::move(promised), is_emulated || device == races ? requests_at_once : 0);
}

void print_devices(std::ostream& out) {
  fmt::print(out, "cpu            {}\n", processor_line());
  fmt::print(out, "cuda-emulated  CUDA C++ on the host, thread by thread; {} looks for accesses that nothing puts in order\n", races);
  for (const std::string& line : driver_lines()) fmt::print(out, "cuda           {}\n", line);
}

}  // namespace etalon::command

#endif
