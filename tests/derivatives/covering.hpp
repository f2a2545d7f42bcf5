/// \file
/// Calls of a definition that together hold every pair of attribute values and absences, small enough for fifty
/// digits. It knows no operation.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "../reference/three_ways.hpp"
#include "conformance/case.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::test {

/// Well-typed calls, each of which holds a pair of choices that no earlier one holds. Integers count as negative, zero,
/// one or more; lists by their largest and smallest entry.
[[nodiscard]] std::vector<conformance::CallTypes> covering_calls(const spec::Definition& definition);

/// A call's instance, a point at which all results are finite, and the inputs that have derivatives.
struct CallPoint {
  spec::Instance instance;
  Point point;
  std::vector<std::size_t> wrt;
};
/// Nothing where 300 draws met no finite point.
[[nodiscard]] std::optional<CallPoint> draw_point(const conformance::CallTypes& call, std::mt19937_64& engine,
                                                  const spec::Library& library = {});

/// The call in one line, for messages.
[[nodiscard]] std::string describe(const conformance::CallTypes& call);

}  // namespace etalon::test
