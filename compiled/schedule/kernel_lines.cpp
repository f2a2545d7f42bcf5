#include <string>
#include <vector>

#include "compiled/schedule/fuse.hpp"

namespace etalon::compiled {

void take_kernels(Deciding& deciding, const spec::System& system, std::span<const Kernel> kernels) {
  const std::vector<std::string> names = addresses(system);
  for (const Kernel& kernel : kernels) {
    if (kernel.kind != KernelKind::loops) continue;
    const std::size_t first = contraction_of(kernel);
    const std::string& opened = names[kernel.statements[first].equation];
    if (!kernel.schedule) deciding.take(switched("join", opened, false));
    for (std::size_t s = first + 1; s < kernel.statements.size(); ++s) {
      const Statement& x = kernel.statements[s];
      if (x.in_passing) continue;
      deciding.take({"join", names[x.equation], {{"with", opened}, {"loops", std::to_string(x.shared.size())}}});
    }
  }
}

}  // namespace etalon::compiled
