#include "cuda/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compiled/reporting.hpp"
#include "cuda/grid.hpp"
#include "cuda/shared_kernels.hpp"
#include "cuda/split.hpp"
#include "spec/error.hpp"

namespace etalon::cuda {

namespace {

const CompiledKernel& named(const std::vector<CompiledKernel>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &CompiledKernel::name);
  if (found == kernels.end()) throw SpecViolation("cubin: it has no kernel `" + name + "`");
  return *found;
}

/// Operations on reals, without what finds out where they stand. A term of a sum is added.
double operations_of(const spec::Expr& e) {
  const bool is_real = e.kind() == Kind::real;
  double inside = 0;
  switch (e.form()) {
    case spec::Form::number:
    case spec::Form::variable:
    case spec::Form::read: return 0;
    case spec::Form::reduce: {
      double terms = 1;
      for (const spec::Binder& b : e->binders) terms *= static_cast<double>(b.extent);
      return terms * (operations_of(e->args[1]) + (is_real ? 1 : 0));
    }
    case spec::Form::select: return operations_of(e->args[0]) + std::max(operations_of(e->args[1]), operations_of(e->args[2]));
    case spec::Form::apply:
    case spec::Form::detach: break;
  }
  for (const spec::Expr& a : e->args) inside += operations_of(a);
  return inside + (is_real && e.form() == spec::Form::apply ? 1 : 0);
}

double operations_of(const spec::System& system, const compiled::Kernel& kernel) {
  double all = 0;
  for (const compiled::Statement& s : kernel.statements) {
    const spec::Equation& equation = system.equations[s.equation];
    double points = 1;
    for (const spec::Binder& b : equation.binders) points *= static_cast<double>(b.extent);
    all += points * operations_of(equation.value);
  }
  return all;
}

}  // namespace

std::vector<KernelUse> uses_of(const compiled::source::ProgramText& program, std::string_view cubin, const Gpu& gpu) {
  const std::vector<CompiledKernel> kernels = kernels_in(cubin);
  const compiled::Compilation& lowered = program.lowered();
  const std::vector<compiled::KernelReport> reports = compiled::kernel_reports(lowered.system, lowered.plan);
  const Splits splits = splits_of(lowered.system, lowered.script, lowered.nests);
  std::vector<KernelUse> uses;
  const SharedKernels shared(program);
  const auto add = [&](const std::string& name, const std::string& printed, const Grid& grid, double bytes, double operations) {
    KernelUse use;
    use.code = named(kernels, printed);
    use.code.name = name;
    use.launch = {static_cast<std::size_t>(grid.blocks), static_cast<std::size_t>(grid.threads), use.code.registers,
                  use.code.shared_bytes + static_cast<std::size_t>(grid.shared_bytes)};
    use.bytes = bytes;
    use.operations = operations;
    use.occupancy = occupancy(use.launch, gpu);
    use.launched = threads_launched(use.launch, gpu);
    use.seconds = std::max(use.bytes / gpu.bytes_per_second, use.operations / gpu.f32_per_second);
    uses.push_back(std::move(use));
  };
  for (std::size_t k = 0; k < lowered.nests.size(); ++k) {
    const std::string name = program.kernel_name(k), printed = shared.name_of(k);
    double read = static_cast<double>(reports.at(k).read_bytes), operations = operations_of(lowered.system, lowered.plan.kernels[k]);
    // What a kernel of parts has read and added up, the one that joins them has not.
    if (const auto split = splits.of.find(k); split != splits.of.end()) {
      add(parts_kernel(name), parts_kernel(printed), split->second.split.grid, read, operations);
      read = operations = 0;
    }
    add(name, printed, grid_of(lowered.system, lowered.nests[k]), read + static_cast<double>(reports.at(k).written_bytes), operations);
  }
  return uses;
}

ProgramUse together(const std::vector<KernelUse>& uses) {
  ProgramUse all;
  for (const KernelUse& u : uses) {
    all.bytes += u.bytes;
    all.operations += u.operations;
    all.seconds += u.seconds;
    all.occupancy += u.seconds * u.occupancy;
    all.launched += u.seconds * std::min(1.0, u.launched);
  }
  if (all.seconds > 0) {
    all.occupancy /= all.seconds;
    all.launched /= all.seconds;
  }
  return all;
}

std::string to_text(const std::vector<KernelUse>& uses, const Gpu& gpu) {
  std::string text = fmt::format("sm_{}: {}, {} multiprocessors of {} threads, {:g} GB/s, {:g} TFLOP/s in f32\n", gpu.capability, gpu.name, gpu.multiprocessors,
                                 gpu.threads, gpu.bytes_per_second / 1e9, gpu.f32_per_second / 1e12);
  std::size_t width = 6;
  for (const KernelUse& u : uses) width = std::max(width, u.code.name.size());
  const auto line = [&](const auto& name, const auto& blocks, const auto& threads, const auto& shared, const auto& registers, const auto& local, const auto& u) {
    text += fmt::format("{:{}} {:>6} {:>7} {:>7} {:>9} {:>6} {:>8.0f}% {:>8.1f}% {:>12.0f} {:>12.0f} {:>9.2f}\n", name, width, blocks, threads, shared, registers, local,
                        100 * u.occupancy, 100 * u.launched, u.bytes, u.operations, 1e6 * u.seconds);
  };
  text += fmt::format("{:{}} {:>6} {:>7} {:>7} {:>9} {:>6} {:>9} {:>9} {:>12} {:>12} {:>9}\n", "kernel", width, "blocks", "threads", "shared", "registers", "local",
                      "resident", "launched", "bytes", "operations", "us");
  for (const KernelUse& u : uses) line(u.code.name, u.launch.blocks, u.launch.threads, u.launch.shared_bytes, u.code.registers, u.code.local_bytes, u);
  line("all", "-", "-", "-", "-", "-", together(uses));
  return text;
}

}  // namespace etalon::cuda
