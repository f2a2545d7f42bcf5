#include "tools/command/imported.hpp"

#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "conformance/reports/json_lines.hpp"
#include "spec/error.hpp"

namespace etalon::command {

void require_offered(const std::vector<std::string>& refused) {
  if (refused.empty()) return;
  for (std::size_t i = 0; i + 1 < refused.size(); ++i) std::cerr << refused[i] << '\n';
  throw Unsupported(refused.back());
}

int show_verdict(const conformance::Outcome& outcome, const std::string& file, bool json) {
  const std::size_t decided = outcome.comparisons - outcome.undecided;
  if (json) {
    nlohmann::ordered_json line = conformance::to_json(outcome);
    line["undecided"] = outcome.undecided;
    std::cout << line.dump() << '\n';
  } else {
    const std::string why = outcome.why.empty() ? "" : ": " + outcome.why;
    std::cout << fmt::format("{}: {}{}; {} elements compared, {} undecided, the largest error {:.3g} of its bound\n",
                             file, name_of(outcome.verdict), why, decided, outcome.undecided, outcome.worst_ratio);
  }
  return outcome.verdict == conformance::Verdict::pass && decided > 0 ? 0 : 1;
}

}  // namespace etalon::command
