/// \file
/// Which defects of implementations the suite's own cases show, operation by operation, in the order of a run and with
/// all checks but that of rejections. It knows no defect and no backend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/conform.hpp"
#include "spec/backend.hpp"

namespace etalon::adequacy {

/// One defect of one operation.
struct Implementation {
  std::string operation, family, what;
  std::size_t touched = 0;  ///< cases in which some answer is another
  std::string by;           ///< the id of the case that convicts; empty where none does
};

/// In the order of the defects. \param honest asked for what is right; it must conform
[[nodiscard]] std::vector<Implementation> score_implementations(const std::string& operation, spec::Backend& honest,
                                                                const conformance::ConformOptions& options);

}  // namespace etalon::adequacy
