#include "compiled/emit/llvm/effort.hpp"

#include <algorithm>
#include <array>
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

bool HastyPasses::shouldRunPass(llvm::StringRef pass, llvm::StringRef) {
  static constexpr std::array<llvm::StringLiteral, 3> left_out{
      llvm::StringLiteral("Loop Strength Reduction"), llvm::StringLiteral("Machine Instruction Scheduler"),
      llvm::StringLiteral("Post RA top-down list latency scheduler")};
  return std::find(left_out.begin(), left_out.end(), pass) == left_out.end();
}

bool is_hasty(const std::vector<loops::Nest>& nests) {
  double work = 0;
  for (const loops::Nest& nest : nests) {
    if (contracts(nest.steps)) return false;
    work += nest.work;
  }
  return work < threshold<double>("little_work");
}

}  // namespace etalon::compiled
