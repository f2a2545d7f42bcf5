/// \file
/// Random well-typed programs of several calls, drawn from the definitions' signatures. It knows no operation by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "conformance/assignment.hpp"
#include "conformance/draw.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/definition.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {

struct ProgramWish {
  std::size_t calls = 3;
  std::int64_t elements = 12;  ///< about this many in the largest operand
  DType dtype = DType::f64;
  const spec::Definition* first = nullptr;  ///< of the first call; nothing means any
  spec::Library library{};                  ///< where the definitions come from
  double repeats = 0;        ///< how probably a call is the one before it again, at the same types
  double shared_inputs = 0;  ///< how probably an operand reads an input that is there already
  bool alone = false;        ///< every call is the first one again
  bool elementwise_after = false;  ///< every call after the first is elementwise
  bool doubled = false;      ///< two operands of the first call are one value, where their types can be equal
  double read_outputs = 0;   ///< how probably a result that a call reads is an output too
};

/// Says whether a call may stay: the program ends with it, and its new inputs are the last ones.
using Admission = std::function<bool(const spec::Program& program, const spec::Instance& last_call)>;

struct RandomProgram {
  spec::Program program;
  std::vector<Assignment> assignments;  ///< per call, the choices from which its types follow
};

/// A program of calls of these definitions in which every call but the first, and those that repeat another, reads a
/// result of an earlier one; what no call gives is an input. Its outputs are the results that no call reads, and more by wish. Nothing when too few calls could be joined.
[[nodiscard]] std::optional<RandomProgram> random_program(std::span<const spec::Definition* const> definitions,
                                                          const ProgramWish& wish, Draw& draw, const Admission& admits = {});

}  // namespace etalon::conformance
