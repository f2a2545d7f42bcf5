#include "cuda/gpu.hpp"

#include <fmt/format.h>

#include <string>

#include "spec/error.hpp"

namespace etalon::cuda {

const Gpu& gpu_of(std::string_view architecture) {
  std::string known;
  for (const Gpu& gpu : gpus) {
    const std::string name = fmt::format("sm_{}", gpu.capability);
    if (architecture == name || (architecture.starts_with(name) && architecture.substr(name.size()) == "a")) return gpu;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw SpecViolation(fmt::format("architecture `{}`: nothing is known of a device that has it; there are {}", architecture, known));
}

}  // namespace etalon::cuda
