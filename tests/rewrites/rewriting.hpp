/// \file
/// One name for all that rewrites a system on its way to machine code, and what comes of a system with one of them left out.
#pragma once

#include <string>
#include <vector>

#include "compiled/compile.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/task.hpp"
#include "spec/host_tensor.hpp"
#include "spec/system/system.hpp"

namespace etalon::test {

/// A pass, or what follows the passes, by the name by which it is left out.
struct Named {
  std::string name;
  bool orders_sums = true;  ///< without it kernels may be other ones, and each adds up its sums in an order of its own
};

/// All that can be left out, each once.
[[nodiscard]] std::vector<Named> all_rewrites();

/// Options for drawn systems: contractions have tiles and wide values strips, however small they are.
[[nodiscard]] compiled::CompileOptions eager();

[[nodiscard]] compiled::CompileOptions without(compiled::CompileOptions options, const std::string& name);

[[nodiscard]] compiled::Compilation lowered(const spec::System& system, const compiled::CompileOptions& options);

/// As on another machine than this one.
[[nodiscard]] compiled::Compilation lowered(const spec::System& system, const compiled::CompileOptions& options, const compiled::Machine& machine);

/// Whether the same loops come of both.
[[nodiscard]] bool alike(const compiled::Compilation& a, const compiled::Compilation& b);

[[nodiscard]] std::vector<HostTensor> outputs_of(const spec::System& system, const compiled::CompileOptions& options, const std::vector<HostTensor>& inputs);

}  // namespace etalon::test
