#include <unordered_set>
#include <vector>

#include "compiled/ir/language.hpp"
#include "compiled/rewrite/passes.hpp"

namespace etalon::compiled {

void separate_outputs(System& system) {
  std::unordered_set<TensorId> taken(system.inputs.begin(), system.inputs.end());
  for (std::size_t i = 0; i < system.outputs.size(); ++i) {
    const TensorId source = system.outputs[i];
    if (taken.insert(source).second) continue;
    const spec::TensorInfo original = system[source];
    const TensorId copy =
        system.add_tensor(original.name + ".output" + std::to_string(i), original.dtype, original.dims);
    const std::vector<spec::Binder> binders = system.bind_all(copy);
    system.define(copy, binders, system.at(source, spec::variables(binders)));
    system.outputs[i] = copy;
    taken.insert(copy);
  }
}

}  // namespace etalon::compiled
