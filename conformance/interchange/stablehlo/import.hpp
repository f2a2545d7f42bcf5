/// \file
/// A module of StableHLO as a program of the library's operations. What an instruction means there stands in one table
/// of rows (rows.hpp); what is not offered is refused all at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/interchange/stablehlo/module.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance::stablehlo {

struct ImportOptions {
  std::string file = "model.mlir";  ///< in messages and as the source of steps
  std::string function;             ///< by its name; none: `main`, or the only one
};

/// What the module itself expects of one of its values (`check.expect_…`).
struct Expectation {
  enum class Kind : std::uint8_t { equal, almost_equal, close };
  Kind kind = Kind::equal;
  std::string output;                   ///< of the program
  std::optional<std::string> expected;  ///< another output of the program; otherwise
  std::optional<HostTensor> numbers;    ///< these
  std::uint32_t line = 0;
};

/// A program; or why there is none.
struct Imported {
  spec::Program program;
  std::map<std::string, std::string> inputs;  ///< the module's names of the program's inputs that are no constants
  std::size_t results =
      0;  ///< so many of the first outputs are the function's; the others are expected to be something
  std::vector<Expectation> expectations;
  /// One line for each instruction and argument that is not offered, `model.mlir:17:5: stablehlo.sort: …`; where there
  /// is one, there is no program.
  std::vector<std::string> refused;
};

/// Total: whatever the module says, it is a program or refused.
[[nodiscard]] Imported import_module(const Module& module, const ImportOptions& options);

}  // namespace etalon::conformance::stablehlo
