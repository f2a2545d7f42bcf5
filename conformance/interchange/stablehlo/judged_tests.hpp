/// \file
/// Tests of one operation as modules of StableHLO that hold their own verdict: each computes a drawn call, compares
/// with the ends of what is admitted, and expects `true`. What is drawn and admitted is that of golden packs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance::stablehlo {

struct JudgedTest {
  std::string name;
  std::string text;  ///< a module whose function main has no arguments and no results
};

struct JudgedTests {
  std::vector<JudgedTest> tests;
  std::map<std::string, std::size_t> left_out;  ///< how many cases, by why
};

/// Values of the operations that the options select, under the contract. Operands pass an optimization_barrier, so that
/// a compiler computes when it runs. \throws SpecViolation for an option that selects nothing
[[nodiscard]] JudgedTests judged_tests(const ConformOptions& options, const spec::Contract& contract);

/// Writes `folder/NAME.mlir`. \throws IoError
void write_judged_tests(const std::filesystem::path& folder, const JudgedTests& tests);

}  // namespace etalon::conformance::stablehlo
