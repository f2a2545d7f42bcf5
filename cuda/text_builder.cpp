#include "cuda/text_builder.hpp"

#include <algorithm>
#include <utility>

namespace etalon::cuda {

std::unique_ptr<const compiled::Module> TextBuilder::load(const compiled::Compilation& made, compiled::Report& report) {
  ModuleText module = module_text(made);
  report.kernels = module.kernels.size();
  report.shared_kernels = static_cast<std::size_t>(std::ranges::count_if(module.kernels, [](const KernelEntry& k) { return k.grid.threads > 1; }));
  return load_(std::move(module));
}

}  // namespace etalon::cuda
