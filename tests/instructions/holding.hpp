/// \file
/// An instruction held to its equations: by the judge of the conformance suite under the instruction's contract, and to one rounding
/// for each equation, on numbers of the suite's families. It knows no row.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiled/machine/instruction.hpp"

namespace etalon::test {

/// A function of the memory of an instruction's operands and of its result.
using AsFunction = std::function<void(std::byte* const* memory)>;

/// What was seen of an instruction.
struct Holding {
  std::size_t compared = 0;         ///< elements
  std::size_t undecided = 0;        ///< of them, those of which the judge's bounds say nothing
  std::string fault;                ///< the first, or nothing
};

/// Asks so many times for every family of numbers, or for bytes where T is no real. Memory ends at pages that may not be touched.
/// Locals of the meaning have as many lanes as its result.
/// \param lanes where the meaning leaves their number open
[[nodiscard]] Holding hold(const compiled::Instruction& i, DType type, std::int64_t lanes, const AsFunction& function, std::size_t times = 2);

}  // namespace etalon::test
