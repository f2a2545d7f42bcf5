/// \file
/// A call whose choices are drawn, with the types that follow from them. It knows no program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/random_program.hpp"

namespace etalon::conformance {

struct DrawnCall {
  const spec::Definition* definition = nullptr;
  Assignment assignment;
  CallTypes types;
  spec::Instance instance;
  /// The type of the first.
  [[nodiscard]] const spec::ValueType& result() const { return instance.results.front(); }
};

/// Nothing where there are no choices, or no call follows from them.
[[nodiscard]] std::optional<DrawnCall> typed(const ProgramWish& wish, const spec::Definition& d, std::optional<Assignment> choices);

/// Per operand of a call the value of the program that it reads, or nothing.
using Taken = std::vector<std::optional<std::string>>;

/// Operands of this type read the values, in order, as far as both reach.
[[nodiscard]] Taken taken_where(const DrawnCall& call, const spec::ValueType& type, const std::vector<std::string>& values);

/// The first of two operands beside each other that have one type.
[[nodiscard]] std::optional<std::size_t> twins_of(const DrawnCall& call);

[[nodiscard]] std::vector<std::int64_t> extents_of(const spec::ValueType& type);

}  // namespace etalon::conformance
