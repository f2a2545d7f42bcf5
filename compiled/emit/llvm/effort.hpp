/// \file
/// How much the code generator tries: of kernels that are done in microseconds the passes cost more than they ever give
/// back. Which instructions compute a number does not change, only their order and how addresses are counted.
#pragma once

#include <vector>

#include <llvm/IR/OptBisect.h>

#include "compiled/ir/nest.hpp"

namespace etalon::compiled {

/// Leaves out the passes that order instructions and rewrite how loops count.
class HastyPasses : public llvm::OptPassGate {
 public:
  [[nodiscard]] bool shouldRunPass(llvm::StringRef pass, llvm::StringRef where) override;
  [[nodiscard]] bool isEnabled() const override { return true; }
};

/// Whether all of the kernels together do little, and none is a contraction: tiles of registers want their order.
[[nodiscard]] bool is_hasty(const std::vector<loops::Nest>& nests);

}  // namespace etalon::compiled
