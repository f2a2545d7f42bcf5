#include "compiled/codegen/effort.hpp"

#include <algorithm>
#include <array>

namespace etalon::compiled {

bool HastyPasses::shouldRunPass(llvm::StringRef pass, llvm::StringRef) {
  static constexpr std::array<llvm::StringLiteral, 3> left_out{
      llvm::StringLiteral("Loop Strength Reduction"), llvm::StringLiteral("Machine Instruction Scheduler"),
      llvm::StringLiteral("Post RA top-down list latency scheduler")};
  return std::find(left_out.begin(), left_out.end(), pass) == left_out.end();
}

bool is_hasty(const std::vector<loops::Nest>& nests) {
  constexpr double little = 1 << 14;  // scalar operations
  double work = 0;
  for (const loops::Nest& nest : nests) work += nest.work;
  return work < little;
}

}  // namespace etalon::compiled
