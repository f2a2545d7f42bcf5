/// \file
/// Random well-typed programs of several calls, drawn from the definitions' signatures. It knows no operation by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conformance/draw.hpp"
#include "spec/notation/definition.hpp"
#include "spec/program/program.hpp"

namespace etalon::conformance {

struct ProgramWish {
  std::size_t calls = 3;
  std::int64_t elements = 12;  ///< about this many in the largest operand
  DType dtype = DType::f64;
};

/// A program of calls of these definitions in which every call but the first reads a result of an earlier one; what no
/// call gives is an input. Its outputs are the results that no call reads. Nothing when too few calls could be joined.
[[nodiscard]] std::optional<spec::Program> random_program(std::span<const spec::Definition* const> definitions,
                                                          const ProgramWish& wish, Draw& draw);

}  // namespace etalon::conformance
