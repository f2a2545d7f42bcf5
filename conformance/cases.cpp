#include "conformance/cases.hpp"

#include <exception>
#include <utility>

namespace etalon::conformance {

Cases::Cases(Unit unit, const ConformOptions& options)
    : unit_(std::move(unit)), seed_(options.seed), library_(options.library) {}

std::optional<Cases::Next> Cases::next() {
  constexpr std::size_t patience = 8;
  while (index_ < unit_.most_cases && (given_ < unit_.least_cases || planned_ < unit_.elements)) {
    Next next{{unit_.operation, unit_.check, unit_.dtype, index_++, seed_, library_}, std::nullopt, ""};
    try {
      next.made = make_case(next.key);
    } catch (const std::exception& e) {
      next.problem = std::string("the case could not be made: ") + e.what();
    }
    if (!next.made && next.problem.empty()) {
      if (++missing_ > patience && given_ == 0) break;
      continue;
    }
    ++given_;
    planned_ += next.made ? next.made->planned : 0;
    return next;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
