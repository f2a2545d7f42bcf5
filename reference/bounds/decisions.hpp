/// \file
/// Discrete decisions on computed values that a conforming evaluation may take either way: which are open, which are
/// forced, and which elements hang on which. It knows no values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace etalon::reference::bounds {

using DecisionId = std::uint32_t;
using DecisionSet = std::uint32_t;  ///< handle; 0 is the empty set

/// Sets of decisions by handle; a set of more than `most` is the one that is not resolved.
class DecisionSets {
 public:
  static constexpr std::size_t most = 24;
  static constexpr DecisionSet too_many = 1;

  DecisionSets() : sets_(2) {}
  [[nodiscard]] DecisionSet of(DecisionId d);
  [[nodiscard]] DecisionSet unite(DecisionSet a, DecisionSet b);
  [[nodiscard]] const std::vector<DecisionId>& members(DecisionSet s) const { return sets_[s]; }

 private:
  [[nodiscard]] DecisionSet intern(std::vector<DecisionId> members);
  std::vector<std::vector<DecisionId>> sets_;
  std::map<std::vector<DecisionId>, DecisionSet> known_;
  std::unordered_map<std::uint64_t, DecisionSet> unions_;
};

/// The decisions met so far, by the place where they are taken, with their possible answers.
class Decisions {
 public:
  /// The decision at that place; its answers are those of the first meeting.
  [[nodiscard]] DecisionId meet(std::uint64_t place, std::vector<std::int64_t> answers);
  [[nodiscard]] const std::vector<std::int64_t>& answers(DecisionId d) const { return answers_[d]; }
  [[nodiscard]] std::size_t size() const { return answers_.size(); }

 private:
  std::unordered_map<std::uint64_t, DecisionId> ids_;
  std::vector<std::vector<std::int64_t>> answers_;
};

using Forced = std::unordered_map<DecisionId, std::int64_t>;

}  // namespace etalon::reference::bounds
