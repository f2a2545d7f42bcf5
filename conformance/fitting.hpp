/// \file
/// Choices for an operand whose extents are given: a result that a call is to read. It knows the signature, and draws
/// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/assignment.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::conformance {

/// What extents an operand is to have, where that can be; of a pack its first member.
struct Fit {
  std::size_t operand = 0;
  std::vector<std::int64_t> extents;
};

/// The ranks of rows with which the operand has as many axes as it should; rows beyond the first keep theirs where they can.
void fit_ranks(const spec::Definition& definition, const Fit& fit, std::map<std::string, std::size_t>& ranks);

/// The extents of rows and names of the operand, whose axes have their places already.
void fit_extents(const spec::Definition& definition, const Fit& fit, Assignment& assignment);

}  // namespace etalon::conformance
