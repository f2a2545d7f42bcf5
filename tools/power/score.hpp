/// \file
/// The mutation score: how many mutants a tier of the suite convicts, with which case.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace etalon::power {

struct ScoreOptions {
  std::vector<std::string> names;
  std::string tier = "quick";
  std::uint64_t seed = 1;
  std::size_t attempts = 400;
  std::string json;
  bool all = false;
};

/// \returns 0 when every mutant is convicted.
[[nodiscard]] int run_score(const ScoreOptions& options);

}  // namespace etalon::power
