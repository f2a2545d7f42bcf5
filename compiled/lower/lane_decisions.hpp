/// \file
/// Which loop over elements of a result runs in lanes, as a decision: what is given about it, else what costs say. It lowers
/// nothing, and leaves the lanes of sums alone: these order their terms, and that order is promised.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiled/ir/decision_list.hpp"
#include "compiled/ir/lanes.hpp"

namespace etalon::compiled::loops {

class LaneDecisions {
 public:
  /// \param on false: nothing runs in lanes but what adds up, unless it is given
  LaneDecisions(const spec::System& system, const Machine& machine, bool on, Deciding& deciding);

  /// The lanes of an equation, or of a kernel that it begins.
  /// \param by_cost where it is the loop of a reduction, it stays, and there is nothing to decide
  /// \param candidates the loops over elements are counted from 0 as they stand here
  /// \throws SpecViolation for a given loop that is not there or has one turn, and for lanes that cannot be.
  [[nodiscard]] LaneChoice follow(std::size_t equation, LaneChoice by_cost, const std::vector<Candidate>& candidates);

 private:
  std::vector<std::string> names_;
  bool has_vectors_ = false;
  bool on_ = true;
  Deciding& deciding_;
};

}  // namespace etalon::compiled::loops
