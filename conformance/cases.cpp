#include "conformance/cases.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "conformance/offer.hpp"
#include "conformance/offered_parts.hpp"
#include "conformance/program_case.hpp"

namespace etalon::conformance {
namespace {

// Cases beyond the unit's own that are drawn in place of others: as many as find something that is offered where one
// call in some dozens is, and, once something is, enough to answer the unit's quota where one in four is.
constexpr std::size_t enough_to_find = 24;
constexpr std::size_t most_per_answer = 4;

}  // namespace

Cases::Cases(Unit unit, const ConformOptions& options, const spec::Description* description)
    : unit_(std::move(unit)),
      seed_(options.seed),
      library_(options.library),
      modes_(options.modes),
      description_(description) {}

bool Cases::goes_on() const {
  const bool answers = given_ > 0;
  const std::size_t most = std::max(unit_.most_cases, enough_to_find) * (answers ? most_per_answer : 1);
  const std::size_t limit = std::max(unit_.most_cases, std::min(unit_.most_cases + replaced_, most));
  return index_ < limit && (given_ < unit_.least_cases || planned_ < unit_.elements);
}

bool Cases::passes_over(const Case& c) {
  const bool selected = modes_.empty() || std::find(modes_.begin(), modes_.end(), c.mode) != modes_.end();
  if (!selected) return true;
  if (description_ == nullptr) return false;
  if (!offers(*description_, c.mode)) return true;
  if (c.program) {
    if (!offers_attributes(*description_, *c.program)) return true;
    const std::vector<std::string> called = operations_of(*c.program);
    return !std::all_of(called.begin(), called.end(), [&](const std::string& name) {
      return offers(*description_, name);
    }) || missing_type(*description_, c);
  }
  const auto missing = missing_type(*description_, c);
  if (missing && !ruled_out_) ruled_out_ = RuledOut{c.key, c.mode, *missing};
  return missing.has_value();
}

std::optional<Cases::Next> Cases::next() {
  constexpr std::size_t patience = 8;
  while (goes_on()) {
    Next next{{unit_.operation, unit_.check, unit_.dtype, index_++, seed_, library_}, std::nullopt, ""};
    try {
      next.made = make_case(next.key);
      const bool is_there = next.made.has_value();
      if (is_there && description_ != nullptr) next.made = offered_parts(std::move(*next.made), *description_);
      if (is_there && (!next.made || passes_over(*next.made))) {
        ++replaced_;
        continue;
      }
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

void Cases::refused(const Case& c) {
  --given_;
  planned_ -= c.planned;
  ++replaced_;
  any_refused_ = true;
}

std::optional<Cases::RuledOut> Cases::ruled_out() const {
  return given_ == 0 && !any_refused_ ? ruled_out_ : std::nullopt;
}

}  // namespace etalon::conformance
