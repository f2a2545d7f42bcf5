#include "compiled/emit/llvm/effort.hpp"

#include <algorithm>
#include <variant>

#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {
namespace {

bool contracts(const std::vector<loops::Step>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const loops::Step& step) {
    if (std::holds_alternative<loops::Contract>(step.is)) return true;
    const auto* loop = std::get_if<loops::Loop>(&step.is);
    return loop != nullptr && contracts(loop->steps);
  });
}

}  // namespace

Effort effort_for(const std::vector<loops::Nest>& nests) {
  double work = 0;
  for (const loops::Nest& nest : nests) {
    if (contracts(nest.steps)) return Effort::full;
    work += nest.work;
  }
  return work < threshold<double>("little_work") ? Effort::hasty : Effort::full;
}

}  // namespace etalon::compiled
