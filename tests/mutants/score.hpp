/// \file
/// Which case of a tier convicts a mutant, and what is left of that case when it is made small. It knows no mutant.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/check.hpp"
#include "conformance/conform.hpp"
#include "tests/mutants/backend.hpp"

namespace etalon::mutants {

struct Conviction {
  conformance::Case made;
  conformance::Outcome outcome;
};

struct Finding {
  std::size_t asked = 0;    ///< cases that the defect may have touched
  std::size_t skipped = 0;  ///< cases whose system the defect leaves as it was
  std::optional<Conviction> first;
  std::optional<conformance::Case> smallest;
  std::vector<std::string> crashes;  ///< where the mutant failed to answer: no conviction of the defect
};

/// The names in a comma-separated list that the library has.
[[nodiscard]] std::vector<std::string> known_operations(std::string_view list);

/// Asks the cases of the options' tier and operations, one of each unit in turn, until one convicts.
[[nodiscard]] Finding convict(const Mutant& mutant, const conformance::ConformOptions& options);

/// Makes the conviction small. \returns the smallest case and keeps it in `finding.smallest`.
void shrink(const Mutant& mutant, Finding& finding, std::size_t attempts);

/// Numbers in the operands, and in what is given besides them in the case's mode.
[[nodiscard]] std::size_t numbers_given(const conformance::Case& c);

}  // namespace etalon::mutants
