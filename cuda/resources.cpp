#include "cuda/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiled/reporting.hpp"
#include "cuda/grid.hpp"
#include "spec/error.hpp"

namespace etalon::cuda {

namespace {

const CompiledKernel& named(const std::vector<CompiledKernel>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &CompiledKernel::name);
  if (found == kernels.end()) throw SpecViolation("cubin: it has no kernel `" + name + "`");
  return *found;
}

}  // namespace

std::vector<KernelUse> uses_of(const compiled::source::ProgramText& program, std::string_view cubin, const Gpu& gpu) {
  const std::vector<CompiledKernel> kernels = kernels_in(cubin);
  const compiled::Compilation& lowered = program.lowered();
  const std::vector<compiled::KernelReport> reports = compiled::kernel_reports(lowered.system, lowered.plan);
  std::vector<KernelUse> uses;
  for (std::size_t k = 0; k < lowered.nests.size(); ++k) {
    const Grid grid = grid_of(lowered.nests[k]);
    KernelUse use;
    use.code = named(kernels, program.kernel_name(k));
    use.launch = {static_cast<std::size_t>(grid.blocks), static_cast<std::size_t>(grid.threads), use.code.registers,
                  use.code.shared_bytes + static_cast<std::size_t>(grid.shared_bytes)};
    use.bytes = static_cast<double>(reports.at(k).read_bytes + reports.at(k).written_bytes);
    use.operations = reports.at(k).operations;
    use.occupancy = occupancy(use.launch, gpu);
    use.launched = threads_launched(use.launch, gpu);
    use.seconds = std::max(use.bytes / gpu.bytes_per_second, use.operations / gpu.f32_per_second);
    uses.push_back(std::move(use));
  }
  return uses;
}

std::string to_text(const std::vector<KernelUse>& uses, const Gpu& gpu) {
  std::string text = fmt::format("sm_{}: {}, {} multiprocessors of {} threads, {:g} GB/s, {:g} TFLOP/s in f32\n", gpu.capability, gpu.name, gpu.multiprocessors,
                                 gpu.threads, gpu.bytes_per_second / 1e9, gpu.f32_per_second / 1e12);
  std::size_t width = 6;
  for (const KernelUse& u : uses) width = std::max(width, u.code.name.size());
  text += fmt::format("{:{}} {:>6} {:>7} {:>7} {:>9} {:>6} {:>9} {:>9} {:>12} {:>12} {:>9}\n", "kernel", width, "blocks", "threads", "shared", "registers", "local",
                      "resident", "launched", "bytes", "operations", "us");
  for (const KernelUse& u : uses) {
    text += fmt::format("{:{}} {:>6} {:>7} {:>7} {:>9} {:>6} {:>8.0f}% {:>8.1f}% {:>12.0f} {:>12.0f} {:>9.2f}\n", u.code.name, width, u.launch.blocks, u.launch.threads,
                        u.launch.shared_bytes, u.code.registers, u.code.local_bytes, 100 * u.occupancy, 100 * u.launched, u.bytes, u.operations, 1e6 * u.seconds);
  }
  return text;
}

}  // namespace etalon::cuda
