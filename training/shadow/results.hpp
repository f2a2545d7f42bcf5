/// \file
/// What checks of a stretch of a run came to, as the journal keeps it. It knows no tensor.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace etalon::training {

class StrictJson;

struct ShadowResults {
  std::int64_t replayed = 0;  ///< steps that were computed again
  std::int64_t compared = 0;  ///< elements whose bits were compared
  std::int64_t judged = 0;    ///< steps that were recorded and held to their bounds
  std::int64_t elements = 0;  ///< that were held to bounds
  std::int64_t undecided = 0; ///< of them, those for which the bound says nothing
  std::vector<std::string> transient = {};  ///< a line for each fault that did not repeat; training went on with the right state

  [[nodiscard]] bool empty() const { return *this == ShadowResults{}; }
  ShadowResults& operator+=(const ShadowResults& more);
  friend bool operator==(const ShadowResults&, const ShadowResults&) = default;
};

[[nodiscard]] nlohmann::ordered_json to_json(const ShadowResults& results);
/// \throws IoError for anything that `to_json` does not write
[[nodiscard]] ShadowResults shadow_results_of(const StrictJson& json);

}  // namespace etalon::training
