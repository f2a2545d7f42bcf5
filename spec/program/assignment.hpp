/// \file
/// Assignments to buffers: their text, and the equations that they stand for. It knows no operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {

/// `=`, `+=`, `max=`, `:+=`, …
[[nodiscard]] std::string sign_of(const Assign& step);
/// Takes the accumulation that the sign stands for into the assignment. \returns false when it stands for none.
[[nodiscard]] bool read_sign(std::string_view sign, Assign& into);

/// An assignment at the beginning of a line of a program, and where it ends.
struct AssignmentText {
  Assign assignment;
  std::size_t end = 0;
};

/// The assignment that stands on the line, without its source; nothing when the line is of another form.
/// \throws SpecViolation `program: line …, column …: …` when it begins as one and is none.
[[nodiscard]] std::optional<AssignmentText> assignment_in(std::string_view line, std::size_t line_number);

/// The text with every name changed that may be a value.
[[nodiscard]] std::string with_values(std::string_view text, const std::function<void(std::string&)>& change);

/// What is known where an assignment stands.
struct AssignmentScope {
  const std::map<std::string, ValueType>& types;
  const std::map<std::string, std::pair<std::int64_t, std::int64_t>>& ranges;  ///< of indices
  bool written = true;  ///< whether each element of the buffer is written, so that it may be read
  bool begun = true;    ///< whether any is
};

/// An assignment as equations: what the buffer holds from then on.
struct Assignment {
  Instance instance;               ///< its system has one output
  std::vector<std::string> reads;  ///< its inputs; the first is the buffer, not read where nothing is written yet
  Equation writes;                 ///< the places, on the output; without places where there are no elements to write
};

/// The type of the buffer that the assignment declares: extents and element type are those of a local of a definition.
/// \throws SpecViolation with rule and column, also where it accumulates.
[[nodiscard]] ValueType declared_type(const Assign& step, const AssignmentScope& scope);

/// Elaborates an assignment whose buffer has a type in the scope.
/// \throws SpecViolation with rule and column: malformed or ill-typed text, a place outside the buffer, an element
/// that is written twice without accumulation, a read outside a tensor.
[[nodiscard]] Assignment elaborate_assignment(const Assign& step, const AssignmentScope& scope);

}  // namespace etalon::spec
