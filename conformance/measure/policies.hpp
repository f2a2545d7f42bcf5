/// \file
/// What a backend does where contracts leave a choice: subnormals, operands of contractions, ties, NaN among extrema,
/// quotients, 16-bit sums. Each is asked with numbers for which the choices give different results.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/measure/probe.hpp"

namespace etalon::conformance {

/// What was found of one question, for readers.
struct Finding {
  std::string what;
  std::string found;
};

/// The choices of a contract and how they were found; what no contract allows is a defect.
struct Policies {
  bool flush_results = false;
  bool flush_operands = false;
  bool reciprocal_division = false;
  int product_operand_precision = 0;
  spec::RoundingMode product_operand_rounding = spec::RoundingMode::nearest;
  spec::RoundingMode accumulation = spec::RoundingMode::nearest;
  spec::TiePolicy ties = spec::TiePolicy::first;
  spec::NanPolicy nan_of_extrema = spec::NanPolicy::free;
  bool f16_accumulators = false;
  bool bf16_accumulators = false;
  std::vector<Finding> findings;
  std::vector<std::string> defects;
};

[[nodiscard]] Policies measure_policies(spec::Backend& backend, const spec::Library& library);

}  // namespace etalon::conformance
