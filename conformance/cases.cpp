#include "conformance/cases.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "conformance/program_case.hpp"

namespace etalon::conformance {

Cases::Cases(Unit unit, const ConformOptions& options, const spec::Description* description)
    : unit_(std::move(unit)), seed_(options.seed), library_(options.library), description_(description) {}

// Of single calls it is asked all, and says what it does not support; with programs of several that would be most.
bool Cases::offers(const Case& c) const {
  if (description_ == nullptr || !c.program) return true;
  const auto& modes = description_->modes;
  if (std::find(modes.begin(), modes.end(), c.mode) == modes.end()) return false;
  if (!description_->operations) return true;
  const auto& known = *description_->operations;
  const std::vector<std::string> called = operations_of(*c.program);
  return std::all_of(called.begin(), called.end(),
                     [&](const std::string& name) { return std::find(known.begin(), known.end(), name) != known.end(); });
}

std::optional<Cases::Next> Cases::next() {
  constexpr std::size_t patience = 8;
  while (index_ < unit_.most_cases && (given_ < unit_.least_cases || planned_ < unit_.elements)) {
    Next next{{unit_.operation, unit_.check, unit_.dtype, index_++, seed_, library_}, std::nullopt, ""};
    try {
      next.made = make_case(next.key);
    } catch (const std::exception& e) {
      next.problem = std::string("the case could not be made: ") + e.what();
    }
    if (next.made && !offers(*next.made)) next.made.reset();
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
