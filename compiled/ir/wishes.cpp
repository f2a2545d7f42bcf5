#include "compiled/ir/wishes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiled/ir/language.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

using spec::Asked;

std::vector<bool> tensors_asked(const System& system, Asked asked) {
  std::vector<bool> found(system.tensors.size());
  for (const spec::TensorWish& wish : system.wishes) {
    if (wish.asked == asked) found[static_cast<std::size_t>(wish.tensor)] = true;
  }
  return found;
}

std::vector<std::string> wishes_by_tensor(const System& system) {
  std::vector<std::string> found(system.tensors.size());
  for (const spec::TensorWish& wish : system.wishes) {
    std::string& by = found[static_cast<std::size_t>(wish.tensor)];
    by += (by.empty() ? "" : ", ") + wish.by;
  }
  return found;
}

void check_wishes(const System& system) {
  const auto among = [](const std::vector<TensorId>& all, TensorId t) {
    return std::find(all.begin(), all.end(), t) != all.end();
  };
  for (const spec::TensorWish& inlined : system.wishes) {
    if (inlined.asked != Asked::inlined) continue;
    for (const spec::TensorWish& other : system.wishes) {
      if (other.tensor != inlined.tensor || other.asked == Asked::inlined) continue;
      throw SpecViolation(fmt::format("{} excludes {}: a value that is inlined has no memory", inlined.by, other.by));
    }
    const std::string& name = system[inlined.tensor].name;
    if (among(system.inputs, inlined.tensor))
      throw SpecViolation(fmt::format("{} excludes input {}, which is in memory before a run", inlined.by, name));
    if (among(system.outputs, inlined.tensor))
      throw SpecViolation(fmt::format("{} excludes output {}, which is in memory after a run", inlined.by, name));
  }
}

}  // namespace etalon::compiled
