/// \file
/// Programs through what is compiled, where a read out of range is seen: memory between pages that nobody may touch, and
/// emitted C under the address sanitizer. Nothing is computed in a build without the compiler.
#pragma once

#include <vector>

#include "spec/program/program.hpp"

namespace etalon::fuzz {

/// Runs the machine code on inputs that end where a forbidden page begins, then on inputs that begin where one ends,
/// among other bytes; both must give the same bits. \returns whether it ran
[[nodiscard]] bool run_between_guards(const spec::Program& program);

/// Compiles and runs emitted C, many programs at a time.
class EmittedC {
 public:
  [[nodiscard]] bool take(const spec::Program& program);
  void finish();

 private:
  std::vector<spec::Program> waiting_;
};

}  // namespace etalon::fuzz
